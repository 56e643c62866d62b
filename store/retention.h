// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/key.h"
#include "store/store.h"

namespace firetower::store {

inline constexpr int64_t kSecondsPerDay = 86'400;

struct RetentionPolicy {
  // By class; 0 keeps for ever. Age counts from the end of the window.
  int64_t short_seconds = 3 * kSecondsPerDay;
  int64_t standard_seconds = 14 * kSecondsPerDay;
  int64_t long_seconds = 90 * kSecondsPerDay;
  // Bound for all objects together, in bytes; the oldest go first. 0 is no bound.
  uint64_t max_bytes = 0;

  int64_t SecondsOf(RetentionClass retention) const;
};

struct RetentionResult {
  std::vector<std::string> deleted = {};  // keys
  uint64_t deleted_bytes = 0;
  uint64_t kept_objects = 0;
  uint64_t kept_bytes = 0;
  std::vector<std::string> errors = {};  // deletions that failed; the sweep goes on
};

// Deletes what is over age, catalogs a day after their data, then the oldest until the rest fits.
// The newest window is never deleted, and neither is an object whose key is not ours.
Result<RetentionResult> ApplyRetention(ObjectStore& store, const RetentionPolicy& policy,
                                       int64_t now_ns);

// Sum of all sweeps.
struct SweepFigures {
  uint64_t deleted_objects = 0;
  uint64_t deleted_bytes = 0;
  uint64_t failed_deletions = 0;
  uint64_t aborted_uploads = 0;
};

// Deletes what is over age by this machine's clock and by the store's, so that one clock that is
// wrong, or set meanwhile, deletes nothing too early; catalogs a day after their data. For stores
// of any size: a page of a listing is held, and what is young is not listed, but for the captures'
// folders. No bound of bytes. A deletion that fails is left for the next sweep, and the first of
// them is the error; after kMaxFailedDeletions nothing more is tried. `cluster`: its key component,
// whose objects alone are listed and deleted; unset: those of all.
inline constexpr uint64_t kMaxFailedDeletions = 10;
Status SweepByAge(ObjectStore& store, const RetentionPolicy& policy, const Clock& clock,
                  SweepFigures& figures, const std::optional<std::string>& cluster = {});

// Aborts a cluster's uploads in parts that began more than a day ago, by both clocks: the longest
// that one takes is far below. A store that cannot list them has none. A class that fails is left
// for the next time, and the first of them is the error.
Status AbortOldUploads(ObjectStore& store, const Clock& clock, SweepFigures& figures,
                       std::string_view cluster);

}  // namespace firetower::store
