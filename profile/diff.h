// SPDX-License-Identifier: Apache-2.0
// The difference between two profiles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::profile {

// The label of subtracted samples, as pprof's -diff_base sets it.
inline constexpr std::string_view kBaseLabel = "pprof::base";
inline constexpr std::string_view kBaseLabelValue = "true";

bool IsBaseSample(const Profile& diff, const Sample& sample);
// Tells whether any sample is a subtracted one.
bool IsDiff(const Profile& profile);

struct DiffOptions {
  // Scales `before` so that each of its totals equals that of `after`, to compare the distribution
  // of time and not its amount. Values are rounded; their sum is exact.
  bool normalize = false;
  ProfileBuilder::Limits limits = {};
};

// Returns after − before as one profile: the samples of both, with those of `before` negated and
// labelled pprof::base="true", so that `go tool pprof -top` shows the same as with -diff_base.
// Times and comments are those of `after`. kInvalid: the types differ, one is a diff itself, or
// negative values were to be normalized. kExhausted: a limit was reached, or the values of one sign
// could add up to more than 2^63. All later sums over the result are therefore exact.
Result<Profile> Diff(const Profile& before, const Profile& after, const DiffOptions& options = {});

// One function in one binary.
struct DiffRow {
  std::string function = {};  // Profile::FrameName
  std::string mapping = {};   // file name of the binary, may be empty
  int64_t before_self = 0;
  int64_t after_self = 0;
  int64_t before_total = 0;
  int64_t after_total = 0;
  double share = 0;  // self_delta() in per cent of DiffTable::before, of `after` where that is 0

  int64_t self_delta() const { return after_self - before_self; }
  int64_t total_delta() const { return after_total - before_total; }
};

struct DiffTable {
  ValueType value_type = {};
  int64_t before = 0;  // over all samples
  int64_t after = 0;
  // Sorted by the size of self_delta, then of total_delta, both falling, then by name. Includes
  // unchanged functions.
  std::vector<DiffRow> rows = {};
};

// Tabulates a result of Diff. `value_index` must be below sample_types().size().
DiffTable TabulateDiff(const Profile& diff, uint32_t value_index);

}  // namespace firetower::profile
