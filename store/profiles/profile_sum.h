// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"
#include "store/query.h"

namespace firetower::store {

// A sum to which all profiles of an answer are added, one after another.
class ProfileSum {
 public:
  virtual ~ProfileSum() = default;

  // Tells whether the next profiles are no container's last, so that their values of a moment do
  // not count.
  virtual void LeaveOutLevels(bool leave_out) = 0;
  // Resets the sum, because the answer is about to be added again in another way.
  virtual void Clear() = 0;
  // Reads a pprof file, whose bytes must stay valid until AddRead(). An error concerns only this
  // file, which is then skipped.
  virtual Status Read(std::string_view pprof) = 0;
  // Adds the file that was read. An error ends the answer.
  virtual Status AddRead() = 0;
  virtual Status Add(const profile::Profile& profile) = 0;
  // Returns true when everything has to be added again for the sum to be as exact as possible.
  virtual bool Recount() = 0;
  // The number of samples in it, to compare two ways of adding up the same data.
  virtual int64_t Samples() const = 0;
};

// Facts about how a sum was made.
struct SumResult {
  uint64_t profiles = 0;    // that were added
  int64_t observed_ns = 0;  // that some of them cover, each moment once
  SkippedList skipped = {};
};

// Adds all profiles of an answer to `sum`, which must be empty: stored ones in the order in which
// they are found, then those in memory. Fails as MergeProfiles does, or as `sum` does.
Result<SumResult> SumProfiles(const ProfileSource& source, const Query& query,
                              std::span<const OpenProfile> open, const QueryLimits& limits,
                              ProfileSum& sum);

}  // namespace firetower::store
