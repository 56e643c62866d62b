// SPDX-License-Identifier: Apache-2.0
// The rules are those of FilterSamplesByName() and ShowFrom() in
// github.com/google/pprof/profile/filter.go.
#include "profile/select/stack_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "profile/builder.h"
#include "profile/select/copied_tables.h"
#include "profile/select/inverted.h"

namespace firetower::profile {

// One profile's frames by all rules: each name is matched once.
class StackFilter::Work {
 public:
  Work(const StackFilter& filter, const Profile& profile) : filter_(filter), from_(profile) {
    for (size_t rule = 0; rule < kRules; ++rule) {
      if (filter.patterns_[rule].is_set()) Match(static_cast<Rule>(rule));
    }
  }

  std::vector<bool> Kept() const {
    std::vector<bool> kept(from_.sample_count(), true);
    for (uint32_t i = 0; i < kept.size(); ++i) kept[i] = IsKept(from_.sample(i));
    return kept;
  }

  Profile Apply() {
    ProfileBuilder builder(Meta(from_.meta()), {.max_samples = std::numeric_limits<uint32_t>::max(),
                                                .max_bytes = std::numeric_limits<size_t>::max()});
    const CopiedTables tables(from_, builder);
    tables_ = &tables;
    for (uint32_t i = 0; i < from_.location_count(); ++i)
      new_locations_.push_back(AddLocation(i, from_.location(i).lines.size(), builder));
    std::vector<uint32_t> stack;
    for (uint32_t i = 0; i < from_.sample_count(); ++i) {
      const Sample sample = from_.sample(i);
      if (!IsKept(sample) || !FillStack(sample.locations, builder, stack)) continue;
      builder.AddSample(stack, sample.values, sample.labels);
    }
    return std::move(builder).Build();
  }

 private:
  bool has(Rule rule) const { return filter_.patterns_[rule].is_set(); }

  // Fills functions_ and locations_ of a rule.
  void Match(Rule rule) {
    const TextPattern& pattern = filter_.patterns_[rule];
    std::vector<bool>& functions = functions_[rule];
    for (uint32_t i = 0; i < from_.function_count(); ++i) {
      const Function& function = from_.function(i);
      functions.push_back(pattern.Matches(from_.string(function.name)) ||
                          pattern.Matches(from_.string(function.filename)));
    }
    std::vector<bool> mappings;
    for (uint32_t i = 0; i < from_.mapping_count(); ++i)
      mappings.push_back(pattern.Matches(from_.string(from_.mapping(i).filename)));
    for (uint32_t i = 0; i < from_.location_count(); ++i) {
      const Location location = from_.location(i);
      bool matches = location.mapping != kNoMapping && mappings[location.mapping];
      by_mapping_[rule].push_back(matches);
      if (location.lines.empty()) matches |= pattern.Matches(from_.FrameName(location, 0));
      for (const Line& line : location.lines) matches |= functions[line.function];
      locations_[rule].push_back(matches);
    }
  }

  bool IsKept(const Sample& sample) const {
    if (!filter_.tag_focus_.empty() && !filter_.tag_focus_.Matches(from_, sample.labels))
      return false;
    if (filter_.tag_ignore_.Matches(from_, sample.labels)) return false;
    bool focused = !has(kFocus);
    for (const uint32_t location : sample.locations) {
      if (has(kIgnore) && locations_[kIgnore][location]) return false;
      focused = focused || locations_[kFocus][location];
    }
    return focused;
  }

  // Tells whether a line of a location stays: its function by hide and show.
  bool Stays(uint32_t location, const Line* line) const {
    const auto matches = [&](Rule rule) {
      if (line == nullptr) return static_cast<bool>(locations_[rule][location]);
      return by_mapping_[rule][location] || functions_[rule][line->function];
    };
    return (!has(kHide) || !matches(kHide)) && (!has(kShow) || matches(kShow));
  }

  // Adds the innermost `count` lines of a location as far as they stay; kGone for none.
  uint32_t AddLocation(uint32_t index, size_t count, ProfileBuilder& builder) {
    const Location location = from_.location(index);
    std::vector<Line> lines;
    for (const Line& line : location.lines.first(count)) {
      if (Stays(index, &line)) lines.push_back(tables_->LineOf(line));
    }
    const bool is_gone = location.lines.empty() ? !Stays(index, nullptr) : lines.empty();
    if (is_gone) return kGone;
    return builder.AddLocation(tables_->MappingOf(location), location.address, lines,
                               location.is_folded);
  }

  // The number of lines from the innermost one to the outermost that show_from matches; 0: none.
  size_t ShownLines(uint32_t index) const {
    const Location location = from_.location(index);
    if (!locations_[kShowFrom][index]) return 0;
    if (location.lines.empty() || by_mapping_[kShowFrom][index])
      return std::max<size_t>(location.lines.size(), 1);
    size_t count = location.lines.size();
    while (!functions_[kShowFrom][location.lines[count - 1].function]) --count;
    return count;
  }

  // False: no frame is left.
  bool FillStack(const StackView& from, ProfileBuilder& builder, std::vector<uint32_t>& stack) {
    stack.clear();
    size_t end = from.size();
    size_t lines = 0;
    if (has(kShowFrom)) {
      while (end > 0 && (lines = ShownLines(from[end - 1])) == 0) --end;
    }
    for (size_t i = 0; i < end; ++i) {
      const uint32_t location = from[i];
      const bool is_cut =
          has(kShowFrom) && i + 1 == end && lines < from_.location(location).lines.size();
      const uint32_t added =
          is_cut ? AddLocation(location, lines, builder) : new_locations_[location];
      if (added != kGone) stack.push_back(added);
    }
    return !stack.empty();
  }

  static constexpr uint32_t kGone = std::numeric_limits<uint32_t>::max();

  const StackFilter& filter_;
  const Profile& from_;
  std::array<std::vector<bool>, kRules> functions_;
  std::array<std::vector<bool>, kRules> locations_;
  std::array<std::vector<bool>, kRules> by_mapping_;  // of locations_, by the file alone
  const CopiedTables* tables_ = nullptr;              // while a profile is made
  std::vector<uint32_t> new_locations_;
};

Result<StackFilter> StackFilter::Create(const StackFilterTexts& texts) {
  const std::pair<std::string_view, const std::string*> fields[kRules] = {
      {"focus", &texts.focus},
      {"ignore", &texts.ignore},
      {"hide", &texts.hide},
      {"show", &texts.show},
      {"show-from", &texts.show_from}};
  StackFilter filter;
  for (size_t rule = 0; rule < kRules; ++rule) {
    const auto& [name, text] = fields[rule];
    if (text->empty()) continue;
    ASSIGN_OR_RETURN(filter.patterns_[rule], TextPattern::Create(name, *text));
    filter.empty_ = false;
  }
  ASSIGN_OR_RETURN(filter.tag_focus_, LabelFilter::Create("tagfocus", texts.tag_focus));
  ASSIGN_OR_RETURN(filter.tag_ignore_, LabelFilter::Create("tagignore", texts.tag_ignore));
  if (!filter.tag_focus_.empty() || !filter.tag_ignore_.empty()) filter.empty_ = false;
  filter.invert_ = texts.invert;
  if (texts.invert) filter.empty_ = false;
  return filter;
}

Profile StackFilter::Apply(const Profile& profile) const {
  if (empty_) return profile;
  if (!invert_) return Work(*this, profile).Apply();
  return Work(*this, Inverted(profile)).Apply();
}

std::vector<bool> StackFilter::Kept(const Profile& profile) const {
  return Work(*this, profile).Kept();
}

}  // namespace firetower::profile
