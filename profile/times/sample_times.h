// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace firetower::profile {

// When the samples of one profile were taken, in slots of 20 ms of Unix time. A stack that was
// sampled twice has two entries. A profile may have more samples than entries: those have no known
// time.
class SampleTimes {
 public:
  static constexpr int64_t kSlotNs = 20 * kNsPerMs;
  static constexpr int64_t kSlotsPerSecond = kNsPerSecond / kSlotNs;

  struct Taken {
    int32_t slot = 0;     // after base_slot()
    uint32_t sample = 0;  // index in the profile
    auto operator<=>(const Taken&) const = default;
  };

  // Adds a sample. Times before 1970, and those more than a year from the first one, are ignored.
  void Add(int64_t unix_ns, uint32_t sample);

  bool empty() const { return taken_.empty(); }
  size_t size() const { return taken_.size(); }
  // Unix time in slots.
  int64_t base_slot() const { return base_slot_; }
  int64_t SlotOf(const Taken& taken) const { return base_slot_ + taken.slot; }
  // In no order until Sort().
  std::span<const Taken> taken() const { return taken_; }
  // Orders the entries by time, then by sample.
  void Sort();
  // Replaces each sample by its entry in `places`, which must have one for each.
  void Renumber(std::span<const uint32_t> places);
  size_t bytes() const { return taken_.capacity() * sizeof(Taken); }

 private:
  int64_t base_slot_ = 0;
  std::vector<Taken> taken_;
};

// The file form: gzip of "FTT1", the first slot, the number of slots that have samples, for each of
// them its distance from the last one and its number of samples, then the samples slot by slot, the
// first as it is and the others as the distance from the one before. All numbers are varints of
// Protocol Buffers; the first slot is not negative.
std::string EncodeSampleTimes(SampleTimes times);

// Decodes that form; the entries are sorted. kCorrupt: it is not that form, or names a sample that
// is not below `samples`. kExhausted: more than kMaxTaken entries.
inline constexpr size_t kMaxTaken = size_t{1} << 24;
Result<SampleTimes> DecodeSampleTimes(std::string_view bytes, uint32_t samples);

}  // namespace firetower::profile
