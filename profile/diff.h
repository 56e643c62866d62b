// SPDX-License-Identifier: Apache-2.0
// What changed between two profiles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::profile {

// The label of samples that were subtracted, as pprof's -diff_base sets it.
inline constexpr std::string_view kBaseLabel = "pprof::base";
inline constexpr std::string_view kBaseLabelValue = "true";

bool IsBaseSample(const Profile& diff, const Sample& sample);
// Some sample is one that was subtracted.
bool IsDiff(const Profile& profile);

struct DiffOptions {
  // Scale `before` so that each of its totals is that of `after`: how the time is spent is compared
  // and not how much. Values are rounded, their sum is exact.
  bool normalize = false;
  ProfileBuilder::Limits limits = {};
};

// after − before as one profile: the samples of both, those of `before` negated and labelled
// pprof::base="true", so that `go tool pprof -top` on it shows what -diff_base would. Times and
// comments are those of `after`. kInvalid when types differ, when one is a diff itself, or when
// negative values were to be normalized; kExhausted when the values of either sign could pass 2^63
// added up, or at the limits. All later sums over the result are thus exact.
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
  // By the size of self_delta, falling, then of total_delta; then by name. Functions that neither
  // changed are among them.
  std::vector<DiffRow> rows = {};
};

// Of what Diff made; `value_index` below sample_types().size().
DiffTable TabulateDiff(const Profile& diff, uint32_t value_index);

}  // namespace firetower::profile
