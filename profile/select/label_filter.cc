// SPDX-License-Identifier: Apache-2.0
// The rules are those of compileTagFilter() in
// github.com/google/pprof/internal/driver/driver_focus.go.
#include "profile/select/label_filter.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>

namespace firetower::profile {

class LabelFilter::Pattern {
 public:
  explicit Pattern(std::string_view text)
      : compiled_(re2::StringPiece(text.data(), text.size()), Options()) {}
  const RE2& compiled() const { return compiled_; }
  bool Matches(std::string_view text) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_);
  }

 private:
  static RE2::Options Options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(int64_t{1} << 20);
    return options;
  }
  RE2 compiled_;
};

Result<LabelFilter> LabelFilter::Create(std::string_view name, std::string_view text) {
  LabelFilter filter;
  if (text.empty()) return filter;
  if (text.size() > kMaxTextBytes) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("{}: {} bytes: at most {}", name, text.size(), kMaxTextBytes));
  }
  if (const size_t equals = text.find('='); equals != std::string_view::npos) {
    filter.key_ = text.substr(0, equals);
    text.remove_prefix(equals + 1);
  }
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    auto pattern = std::make_shared<const Pattern>(text.substr(0, comma));
    if (!pattern->compiled().ok()) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{} is no KEY=REGEX (RE2), or several separated by commas: {}", name,
                               pattern->compiled().error()));
    }
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
  const auto is_some = [&](const std::shared_ptr<const Pattern>& pattern) {
    return std::ranges::any_of(labels, [&](const Label& label) {
      const std::string_view key = profile.string(label.key);
      if (key_.empty()) return pattern->Matches(fmt::format("{}:{}", key, value_of(label)));
      return key == key_ && pattern->Matches(value_of(label));
    });
  };
  if (patterns_.empty()) return false;
  return key_.empty() ? std::ranges::all_of(patterns_, is_some)
                      : std::ranges::any_of(patterns_, is_some);
}

}  // namespace firetower::profile
