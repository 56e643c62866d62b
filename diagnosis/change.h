// SPDX-License-Identifier: Apache-2.0
// Which functions take another share than before, as far as the samples can tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/report.h"
#include "profile/profile.h"

namespace firetower::diagnosis {

using FunctionName = std::pair<std::string, std::string>;  // function, module

// The samples of a part of a time range, such as some windows: how many are each function's own.
struct PartSamples {
  int64_t total = 0;
  std::map<FunctionName, int64_t> own = {};
};
// Counts a profile's samples, its first value.
PartSamples CountSamples(const profile::Profile& profile);

// One side of a comparison. With several parts it shows how much shares differ by themselves.
struct SideSamples {
  std::vector<PartSamples> parts = {};
  double cores = 0;  // the mean over its time

  int64_t total() const;
};

struct Change {
  std::string function;
  std::string module;
  int64_t before = 0;  // samples
  int64_t after = 0;
  double before_percent = 0;  // of all samples of its side
  double after_percent = 0;
  double z = 0;  // standard errors between the two shares; above 0: it grew
  double p = 1;  // probability of such a difference, or a larger one, by chance
};

struct Changes {
  std::vector<Change> rows = {};  // those beyond chance, the largest difference of shares first
  size_t tested = 0;              // functions that have samples enough to show a change
  double false_alarms = 0;        // as asked for
  double spread = 1;              // the variance between parts, over that of chance alone
};

// The probability of one false alarm or more in a comparison of two times that do not differ.
inline constexpr double kFalseAlarms = 0.01;

// Finds the functions whose share of the samples differs between two sides. `false_alarms`, from 0
// to 1, is the probability that a comparison of equal sides names any function: it is divided among
// the functions that have enough samples to be named at all (Tarone, "A Modified Bonferroni Method
// for Discrete Data", 1990). Few samples are judged exactly. If shares differ between the parts of
// a side by more than chance, differences between sides must be larger by as much.
Changes FindChanges(const SideSamples& before, const SideSamples& after,
                    double false_alarms = kFalseAlarms);

// Returns findings of what grew since, for a report on `after`: at most kMostGrown functions that
// have grown in time, not only in share, and by kLeastGrowth per cent of the whole; and whether the
// whole has grown.
inline constexpr size_t kMostGrown = 5;
inline constexpr double kLeastGrowth = 0.5;
std::vector<Finding> FindGrowth(const SideSamples& before, const SideSamples& after,
                                double false_alarms = kFalseAlarms);

}  // namespace firetower::diagnosis
