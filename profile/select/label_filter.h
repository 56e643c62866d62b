// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/select/text_pattern.h"

namespace firetower::profile {

// The samples that pprof's `tagfocus` names, by their labels: `KEY=REGEX,…` those with a label of
// that key whose value matches one of the regular expressions (RE2, any part of the value),
// `REGEX,…` those for each of whose expressions some label matches, written as `key:value`. Numbers
// match as decimal text; pprof's ranges of numbers are not known. Immutable; may be shared between
// threads.
class LabelFilter {
 public:
  // kInvalid: an expression is not valid, or the text is too long; `name` is that of the parameter.
  static Result<LabelFilter> Create(std::string_view name, std::string_view text);
  LabelFilter() = default;

  // True: it was made without a text.
  bool empty() const { return patterns_.empty(); }
  // Tells whether a label of that key may decide whether a sample is named.
  bool AsksFor(std::string_view key) const { return !empty() && (key_.empty() || key_ == key); }
  // Tells whether a sample with these labels is named. Nothing is where it is empty.
  bool Matches(const Profile& profile, std::span<const Label> labels) const;

 private:
  std::string key_;  // empty: any
  std::vector<TextPattern> patterns_;
};

}  // namespace firetower::profile
