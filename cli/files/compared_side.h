// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "profile/profile.h"

namespace firetower::cli {

// One of two compared profiles, with the time that it covers. An answer contains whole windows, so
// two ranges of the same length may cover different times.
struct ComparedSide {
  profile::Profile profile;
  int64_t covered_ns = 0;  // that its profiles cover, of a file its duration; 0: not known
  int64_t asked_ns = 0;    // how long the range of a selector is; 0: a file
};

// Returns "before: 20.0 s covered of 10.0 s asked" and the same line for `after`. Omits unknown
// times, and two files of the same length.
std::string CoveredLines(const ComparedSide& before, const ComparedSide& after);

// Returns "20.0 s".
std::string CoveredText(const ComparedSide& side);

// Tells whether both times are known and so different that equal load would look like a change.
bool CoverDifferentTimes(const ComparedSide& before, const ComparedSide& after);

// Returns the factor for values of `after` that makes both sides comparable per second. It is 1 for
// two files: they may be of the same piece of work, and then its time is part of the comparison.
double SecondsScale(const ComparedSide& before, const ComparedSide& after);

}  // namespace firetower::cli
