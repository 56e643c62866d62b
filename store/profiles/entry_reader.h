// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "store/access/in_order.h"
#include "store/bundle.h"
#include "store/find.h"
#include "store/profiles/counted_part.h"
#include "store/query.h"
#include "store/store.h"

namespace firetower::store {

// A stored profile of an answer.
struct StoredEntry {
  std::string key = {};
  // Entry in the bundle; a capture has only its row. The row lacks policies and build ids, because
  // sums do not need them and they would be most of the copied bytes.
  BundleEntry entry = {};
  bool is_capture = false;
  Result<std::string> pprof_gz = std::string();
  Result<std::string> times_gz = std::string();  // "": none, or not asked for
};

// The files of a profile that an answer needs.
enum class EntryFiles : uint8_t { kProfile, kTimes, kBoth };

// Reads the profiles of one answer and delivers them in the order in which they were found: one
// after another, or from a slow store several at a time (docs/adr/0024-entries-read-ahead.md). Used
// by one thread. Reads end with limits.calls.
class EntryReader {
 public:
  // Two slow reads in a row mean a store behind a network. Threads would cost more than they save
  // if a read takes half a millisecond.
  static constexpr int64_t kSlowNs = 5 * kNsPerMs;
  static constexpr int kSlowReads = 2;
  // The most bytes that were read from a slow store and not delivered; a larger profile is read
  // alone.
  static constexpr uint64_t kMaxHeldBytes = 4 << 20;

  // `pprof_gz` or `times_gz` has an error if that could not be read, unless the answer has to end.
  using Visit = std::function<Status(StoredEntry&& read)>;

  // Reads what `counted` needs, or `files`. All but `visit` must outlive this.
  EntryReader(const ObjectStore& store, const QueryLimits& limits, const CountedPart& counted,
              Visit visit, const Clock& clock = Clock::System());
  EntryReader(const ObjectStore& store, const QueryLimits& limits, const CountedPart& counted,
              EntryFiles files, Visit visit, const Clock& clock = Clock::System());

  // Reads a profile if it counts, and delivers the finished ones. kExhausted: past
  // limits.max_read_bytes. kUnavailable: limits.calls ended. Else the result of `visit`.
  Status Add(const FoundProfile& found);
  // Delivers the rest.
  Status Finish();

 private:
  bool HasRoomFor(uint64_t bytes) const;
  Status ReadNow(StoredEntry one);
  Status Deliver(StoredEntry&& read);
  Status DeliverFirst();
  void Read(StoredEntry& one) const;

  const std::unique_ptr<const ObjectStore> store_;
  const QueryLimits& limits_;
  const CountedPart& counted_;
  const EntryFiles files_;
  const Visit visit_;
  const Clock& clock_;
  uint64_t read_bytes_ = 0;
  int slow_reads_ = 0;       // in a row
  uint64_t held_bytes_ = 0;  // of those in ahead_
  InOrder<StoredEntry> ahead_;
};

}  // namespace firetower::store
