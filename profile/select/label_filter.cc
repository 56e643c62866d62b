// SPDX-License-Identifier: Apache-2.0
// The rules are those of compileTagFilter() in
// github.com/google/pprof/internal/driver/driver_focus.go.
#include "profile/select/label_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace firetower::profile {

Result<LabelFilter> LabelFilter::Create(std::string_view name, std::string_view text) {
  LabelFilter filter;
  if (text.empty()) return filter;
  if (const size_t equals = text.find('='); equals != std::string_view::npos) {
    filter.key_ = text.substr(0, equals);
    text.remove_prefix(equals + 1);
  }
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    ASSIGN_OR_RETURN(TextPattern pattern, TextPattern::Create(name, text.substr(0, comma)));
    filter.patterns_.push_back(std::move(pattern));
    if (more) text.remove_prefix(comma + 1);
  }
  return filter;
}

bool LabelFilter::Matches(const Profile& profile, std::span<const Label> labels) const {
  const auto value_of = [&](const Label& label) {
    return label.is_number != 0 ? std::to_string(label.number)
                                : std::string(profile.string(label.string_value));
  };
  const auto is_some = [&](const TextPattern& pattern) {
    return std::ranges::any_of(labels, [&](const Label& label) {
      const std::string_view key = profile.string(label.key);
      if (key_.empty()) return pattern.Matches(fmt::format("{}:{}", key, value_of(label)));
      return key == key_ && pattern.Matches(value_of(label));
    });
  };
  if (patterns_.empty()) return false;
  return key_.empty() ? std::ranges::all_of(patterns_, is_some)
                      : std::ranges::any_of(patterns_, is_some);
}

}  // namespace firetower::profile
