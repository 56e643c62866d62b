// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "profile/profile.h"

namespace firetower::cli {

// One of two profiles that are compared, and of what time it is. Windows belong to an answer as a
// whole, so two ranges of one length may be of different times.
struct ComparedSide {
  profile::Profile profile;
  int64_t covered_ns = 0;  // that its profiles cover, of a file its duration; 0: not known
  int64_t asked_ns = 0;    // how long the range of a selector is; 0: a file
};

// "before: 20.0 s covered of 10.0 s asked" and the same of `after`, a line each; of what is not
// known nothing, nor of two files of one length.
std::string CoveredLines(const ComparedSide& before, const ComparedSide& after);

// "20.0 s"
std::string CoveredText(const ComparedSide& side);

// Whether the times are known and so different that equal load would look like a change.
bool CoverDifferentTimes(const ComparedSide& before, const ComparedSide& after);

// What values of `after` are multiplied by to be per second what those of `before` are; 1 for two
// files: they may be of one piece of work, whose time is part of what is compared.
double SecondsScale(const ComparedSide& before, const ComparedSide& after);

}  // namespace firetower::cli
