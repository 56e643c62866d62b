// SPDX-License-Identifier: Apache-2.0
#include "profile/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "profile/merge.h"
#include "profile/selector.h"
#include "profile/top/top.h"

namespace firetower::profile {
namespace {

// Wide enough for a product of two int64, and for any sum of them.
__extension__ typedef __int128 Int128;

struct Sums {
  Int128 values = 0;
  Int128 sizes = 0;  // of either sign
  bool any_negative = false;
};

std::vector<Sums> SumsOf(const Profile& profile) {
  std::vector<Sums> sums(profile.sample_types().size());
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    for (size_t at = 0; at < sums.size(); ++at) {
      const Int128 value = sample.values[at];
      sums[at].values += value;
      sums[at].sizes += value < 0 ? -value : value;
      sums[at].any_negative |= value < 0;
    }
  }
  return sums;
}

Status CheckComparable(const Profile& before, const Profile& after) {
  if (before.sample_types() != after.sample_types()) {
    auto describe = [](const Profile& profile) {
      std::string text;
      for (const ValueType& type : profile.sample_types()) {
        text += fmt::format("{}{}/{}", text.empty() ? "" : " ", type.type, type.unit);
      }
      return text.empty() ? std::string("none") : text;
    };
    return Error(ErrorCode::kInvalid,
                 fmt::format("cannot compare profiles of sample types {} and {}", describe(before),
                             describe(after)));
  }
  if (IsDiff(before) || IsDiff(after)) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("cannot compare a profile that is a difference itself: it has samples "
                             "with the label {}",
                             kBaseLabel));
  }
  return OkStatus();
}

Error TooLarge(const ValueType& type) {
  return {
      ErrorCode::kExhausted,
      fmt::format("the values of {}/{} do not fit in 64 bits when added up", type.type, type.unit)};
}

// Returns the factors for `before`: the totals of each type, or 1 for a type without values.
Result<std::vector<Merger::Scale>> ScalesOf(const std::vector<Sums>& before,
                                            const std::vector<Sums>& after,
                                            const std::vector<ValueType>& types) {
  std::vector<Merger::Scale> scales(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (before[i].any_negative || after[i].any_negative) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("cannot normalize {}/{}: it has negative values", types[i].type,
                               types[i].unit));
    }
    if (before[i].values == 0) continue;
    scales[i] = {.to = static_cast<int64_t>(after[i].values),
                 .from = static_cast<int64_t>(before[i].values)};
  }
  return scales;
}

}  // namespace

bool IsBaseSample(const Profile& diff, const Sample& sample) {
  return std::ranges::any_of(sample.labels, [&](const Label& label) {
    return label.is_number == 0 && diff.string(label.key) == kBaseLabel &&
           diff.string(label.string_value) == kBaseLabelValue;
  });
}

bool IsDiff(const Profile& profile) {
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    if (IsBaseSample(profile, profile.sample(i))) return true;
  }
  return false;
}

Result<Profile> Diff(const Profile& before, const Profile& after, const DiffOptions& options) {
  RETURN_IF_ERROR(CheckComparable(before, after));
  const std::vector<ValueType>& types = after.sample_types();
  const std::vector<Sums> before_sums = SumsOf(before);
  const std::vector<Sums> after_sums = SumsOf(after);
  constexpr Int128 kMost = INT64_MAX;
  for (size_t i = 0; i < types.size(); ++i) {
    // Scaled, `before` has the total of `after`.
    const Int128 scaled = options.normalize ? after_sums[i].sizes : 0;
    if (std::max(before_sums[i].sizes, scaled) + after_sums[i].sizes > kMost) {
      return TooLarge(types[i]);
    }
  }
  std::vector<Merger::Scale> scales;
  if (options.normalize) {
    ASSIGN_OR_RETURN(scales, ScalesOf(before_sums, after_sums, types));
  }
  Merger merger(options.limits);
  RETURN_IF_ERROR(merger.Add(after));
  RETURN_IF_ERROR(merger.Subtract(before, scales));
  return std::move(merger).Finish();
}

DiffTable TabulateDiff(const Profile& diff, uint32_t value_index) {
  auto side = [&](MatchOp op) {
    auto matcher =
        Matcher::Create(std::string(kBaseLabel), op, std::string(kBaseLabelValue)).value();
    return Top(FilterSamples(diff, Selector({std::move(matcher)})), value_index);
  };
  const TopResult base = side(MatchOp::kEqual);
  const TopResult after = side(MatchOp::kNotEqual);
  DiffTable table{.value_type = after.value_type, .before = -base.total, .after = after.total};
  std::map<std::pair<std::string_view, std::string_view>, DiffRow> rows;
  for (const TopRow& row : base.rows) {
    DiffRow& to = rows[{row.function, row.mapping}];
    to.before_self = -row.self;
    to.before_total = -row.total;
  }
  for (const TopRow& row : after.rows) {
    DiffRow& to = rows[{row.function, row.mapping}];
    to.after_self = row.self;
    to.after_total = row.total;
  }
  const int64_t whole = table.before != 0 ? table.before : table.after;
  for (auto& [name, row] : rows) {
    row.function = name.first;
    row.mapping = name.second;
    if (whole != 0) {
      row.share = 100.0 * static_cast<double>(row.self_delta()) / static_cast<double>(whole);
    }
    table.rows.push_back(std::move(row));
  }
  std::ranges::sort(table.rows, [](const DiffRow& a, const DiffRow& b) {
    auto sizes = [](const DiffRow& row) {
      return std::pair(std::abs(row.self_delta()), std::abs(row.total_delta()));
    };
    return std::tuple(sizes(b), std::tie(a.function, a.mapping)) <
           std::tuple(sizes(a), std::tie(b.function, b.mapping));
  });
  return table;
}

}  // namespace firetower::profile
