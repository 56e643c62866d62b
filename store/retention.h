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
  // By class; 0 means forever. Age counts from the end of the window.
  int64_t short_seconds = 3 * kSecondsPerDay;
  int64_t standard_seconds = 14 * kSecondsPerDay;
  int64_t long_seconds = 90 * kSecondsPerDay;
  // The limit for all objects together, in bytes; the oldest are deleted first. 0 means no limit.
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

// Deletes expired objects (catalogs a day after their data), then the oldest until the rest fits.
// Never deletes the newest window, nor objects whose keys are not ours.
Result<RetentionResult> ApplyRetention(ObjectStore& store, const RetentionPolicy& policy,
                                       int64_t now_ns);

// The sum of all sweeps.
struct SweepFigures {
  uint64_t deleted_objects = 0;
  uint64_t deleted_bytes = 0;
  uint64_t failed_deletions = 0;
  uint64_t aborted_uploads = 0;
};

// Deletes objects that are expired by this machine's clock and by the store's, so that one wrong
// clock deletes nothing too early; catalogs a day after their data. Works for stores of any size:
// it holds one page of a listing, and lists no young objects except in the captures' folders. Has
// no limit in bytes. A failed deletion is left for the next sweep, and the first one is returned as
// the error; after kMaxFailedDeletions it stops. `cluster` is a component of keys: only its objects
// are listed and deleted; unset: all.
inline constexpr uint64_t kMaxFailedDeletions = 10;
Status SweepByAge(ObjectStore& store, const RetentionPolicy& policy, const Clock& clock,
                  SweepFigures& figures, const std::optional<std::string>& cluster = {});

// Aborts a cluster's multipart uploads that began more than a day ago, by both clocks: no upload
// takes nearly as long. A store that cannot list uploads has none. A class that fails is left for
// the next time, and the first failure is the error.
Status AbortOldUploads(ObjectStore& store, const Clock& clock, SweepFigures& figures,
                       std::string_view cluster);

}  // namespace firetower::store
