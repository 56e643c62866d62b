// SPDX-License-Identifier: Apache-2.0
#include "profile/times/sample_times.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "profile/codec/gzip.h"
#include "profile/codec/pprof/wire.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kMagic = "FTT1";
constexpr int64_t kMaxDistance = int64_t{366} * 86'400 * SampleTimes::kSlotsPerSecond;
// The year 2261, as in the keys of a store.
constexpr int64_t kMaxSlot = 9'200'000'000 * SampleTimes::kSlotsPerSecond;
// Files are small, and written once a window.
constexpr int kGzipLevel = 6;

void Append(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

Error Corrupt(std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("times of samples: {}", why)};
}

struct SlotRun {
  int64_t slot = 0;
  uint64_t count = 0;
};

// Reads the slots and how many samples each has.
Result<std::vector<SlotRun>> ReadSlots(WireReader& reader) {
  uint64_t slot = 0, count = 0;
  if (!reader.ReadVarint(&slot) || !reader.ReadVarint(&count)) return Corrupt("it is cut off");
  // Each takes two bytes at least.
  if (slot > kMaxSlot || count > kMaxTaken) return Corrupt("its head is out of range");
  std::vector<SlotRun> runs;
  uint64_t all = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t step = 0, samples = 0;
    if (!reader.ReadVarint(&step) || !reader.ReadVarint(&samples)) return Corrupt("it is cut off");
    if (step > kMaxDistance || samples == 0 || (i > 0 && step == 0))
      return Corrupt("slots that do not rise");
    if (samples > kMaxTaken - all)
      return Error(ErrorCode::kExhausted,
                   fmt::format("times of samples: more than {} of them", kMaxTaken));
    all += samples;
    slot += step;
    runs.push_back({static_cast<int64_t>(slot), samples});
  }
  return runs;
}

}  // namespace

void SampleTimes::Add(int64_t unix_ns, uint32_t sample) {
  if (unix_ns < 0) return;
  const int64_t slot = unix_ns / kSlotNs;
  if (taken_.empty()) base_slot_ = slot;
  const int64_t distance = slot - base_slot_;
  if (distance > kMaxDistance || distance < -kMaxDistance) return;
  taken_.push_back({static_cast<int32_t>(distance), sample});
}

void SampleTimes::Sort() { std::ranges::sort(taken_); }

void SampleTimes::Renumber(std::span<const uint32_t> places) {
  for (Taken& taken : taken_) {
    CHECK(taken.sample < places.size());
    taken.sample = places[taken.sample];
  }
}

std::string EncodeSampleTimes(SampleTimes times) {
  times.Sort();
  const std::span<const SampleTimes::Taken> taken = times.taken();
  std::string slots, samples;
  uint64_t runs = 0;
  const int64_t first = taken.empty() ? 0 : times.SlotOf(taken[0]);
  int64_t last = first;
  for (size_t i = 0; i < taken.size();) {
    size_t end = i;
    while (end < taken.size() && taken[end].slot == taken[i].slot) ++end;
    Append(static_cast<uint64_t>(times.SlotOf(taken[i]) - last), slots);
    Append(end - i, slots);
    last = times.SlotOf(taken[i]);
    uint32_t before = 0;
    for (; i < end; ++i) {
      Append(taken[i].sample - before, samples);
      before = taken[i].sample;
    }
    ++runs;
  }
  std::string raw(kMagic);
  Append(static_cast<uint64_t>(first), raw);
  Append(runs, raw);
  return GzipCompress(raw + slots + samples, kGzipLevel);
}

Result<SampleTimes> DecodeSampleTimes(std::string_view bytes, uint32_t samples) {
  // Two bytes for each slot, five for each sample, and the head.
  constexpr size_t kMaxRawBytes = kMaxTaken * 16;
  ASSIGN_OR_RETURN(const std::string raw, GzipDecompress(bytes, kMaxRawBytes));
  if (!raw.starts_with(kMagic)) return Corrupt("it has another head");
  WireReader reader(std::string_view(raw).substr(kMagic.size()));
  ASSIGN_OR_RETURN(const std::vector<SlotRun> runs, ReadSlots(reader));
  SampleTimes times;
  for (const SlotRun& run : runs) {
    uint64_t sample = 0;
    for (uint64_t i = 0; i < run.count; ++i) {
      uint64_t step = 0;
      if (!reader.ReadVarint(&step)) return Corrupt("it is cut off");
      if (step >= samples || (sample += step) >= samples)
        return Corrupt("a sample that the profile does not have");
      times.Add(run.slot * SampleTimes::kSlotNs, static_cast<uint32_t>(sample));
    }
  }
  if (!reader.empty()) return Corrupt("bytes follow its end");
  return times;
}

}  // namespace firetower::profile
