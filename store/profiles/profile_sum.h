// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"
#include "store/query.h"

namespace firetower::store {

// Something that all profiles of an answer are added to, one after another.
class ProfileSum {
 public:
  virtual ~ProfileSum() = default;

  // Goes back to nothing: what was added is about to be added again in another way.
  virtual void Clear() = 0;
  // Reads the bytes of a pprof file, which stay where they are until AddRead(). An error is of this
  // file alone, which is then left out.
  virtual Status Read(std::string_view pprof) = 0;
  // Adds what was read. An error ends the answer.
  virtual Status AddRead() = 0;
  virtual Status Add(const profile::Profile& profile) = 0;
  // True when all that was added has to be added once more for the sum to be as exact as it can be.
  virtual bool Recount() = 0;
  // Samples in it, to compare two ways of adding up the same.
  virtual int64_t Samples() const = 0;
};

// How a sum came about.
struct SumResult {
  uint64_t profiles = 0;    // that were added
  int64_t observed_ns = 0;  // that some of them cover, each moment once
  SkippedList skipped = {};
};

// Adds all profiles of an answer to `sum`, which is empty: stored ones in the order in which they
// are found, then those in memory. Errors as MergeProfiles, and those of `sum`.
Result<SumResult> SumProfiles(const ProfileSource& source, const Query& query,
                              std::span<const OpenProfile> open, const QueryLimits& limits,
                              ProfileSum& sum);

}  // namespace firetower::store
