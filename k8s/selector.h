// SPDX-License-Identifier: Apache-2.0
// Label selectors with upstream's meaning (k8s.io/apimachinery, labels.Requirement.Matches and
// metav1.LabelSelectorAsSelector).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::k8s {

using Labels = std::map<std::string, std::string, std::less<>>;

enum class SelectorOperator { kIn, kNotIn, kExists, kDoesNotExist };

struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<std::string> values;  // In and NotIn: at least one; else none

  bool operator==(const SelectorRequirement&) const = default;
};

struct LabelSelector {
  // An absent member and an empty one select the same; policies refuse a selector with neither.
  std::optional<Labels> match_labels;
  std::optional<std::vector<SelectorRequirement>> match_expressions;

  bool operator==(const LabelSelector&) const = default;
};

// Tells whether every requirement holds. A selector without requirements matches everything. NotIn
// and DoesNotExist hold for an absent key.
bool Matches(const LabelSelector& selector, const Labels& labels);

// Does the same for a nil selector, which, unlike the empty one, matches nothing.
bool Matches(const std::optional<LabelSelector>& selector, const Labels& labels);

// Tells whether the selector is empty and so matches everything.
bool MatchesEverything(const LabelSelector& selector);

// Return the reason why `key` is not a label key ([prefix/]name) or `value` not a label value; ""
// when it is valid.
std::string LabelKeyError(std::string_view key);
std::string LabelValueError(std::string_view value);

}  // namespace firetower::k8s
