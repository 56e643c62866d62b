// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// Finds the function that a sample is the own of: the innermost one. In profiles of waits, whose
// innermost functions are all the scheduler's, that is the innermost one of user space; in those of
// locks the innermost one of these that is no part of how a lock is taken, and in those of memory
// that is no part of how it is allocated.
class OwnFrames {
 public:
  // `profile` must outlive this.
  explicit OwnFrames(const Profile& profile);

  struct Place {
    size_t location = 0;  // index in Sample::locations
    size_t line = 0;      // index in Location::lines; 0 if it has none
  };
  // Returns the place of that function; nothing if the stack is empty.
  std::optional<Place> Of(const Sample& sample) const;

 private:
  // How likely a function is the own one, the likeliest first.
  enum class Rank : uint8_t { kOwn, kHowCode, kKernel, kScheduler, kNone };
  struct Best {
    Rank rank = Rank::kOwn;
    uint32_t line = 0;
  };
  Best BestOf(const Location& location) const;
  Rank RankOf(const Location& location, size_t line) const;

  const Profile& profile_;
  const bool locks_;
  const bool memory_;
  const bool looks_;        // the innermost function need not be the own one
  std::vector<Best> best_;  // of each location; empty unless looks_
};

}  // namespace firetower::profile
