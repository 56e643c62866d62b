// SPDX-License-Identifier: Apache-2.0
#include "k8s/selector.h"

#include <algorithm>

namespace firetower::k8s {
namespace {

bool Holds(const SelectorRequirement& requirement, const Labels& labels) {
  const auto label = labels.find(requirement.key);
  const bool exists = label != labels.end();
  const auto among_values = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), label->second) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return exists && among_values();
    case SelectorOperator::kNotIn:
      return !exists || !among_values();
    case SelectorOperator::kExists:
      return exists;
    case SelectorOperator::kDoesNotExist:
      return !exists;
  }
  return false;
}

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// IsQualifiedName's part, and IsValidLabelValue: at most 63 of [A-Za-z0-9-_.], first and last
// alnum.
bool IsLabelName(std::string_view text) {
  constexpr size_t kMaxBytes = 63;
  return !text.empty() && text.size() <= kMaxBytes && IsAlnum(text.front()) &&
         IsAlnum(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlnum(c) || c == '-' || c == '_' || c == '.';
         });
}

// RFC 1123 as upstream reads it: labels of lower-case alnum and dashes, joined by dots.
bool IsDnsSubdomain(std::string_view text) {
  constexpr size_t kMaxBytes = 253;
  if (text.empty() || text.size() > kMaxBytes) return false;
  const auto lower_alnum = [](char c) { return IsAlnum(c) && !(c >= 'A' && c <= 'Z'); };
  char previous = '.';
  for (const char c : text) {
    if (c == '.' ? previous == '.' || previous == '-'
                 : !lower_alnum(c) && (c != '-' || previous == '.'))
      return false;
    previous = c;
  }
  return previous != '.' && previous != '-';
}

}  // namespace

bool Matches(const LabelSelector& selector, const Labels& labels) {
  if (selector.match_labels) {
    for (const auto& [key, value] : *selector.match_labels) {
      const auto label = labels.find(key);
      if (label == labels.end() || label->second != value) return false;
    }
  }
  if (!selector.match_expressions) return true;
  return std::all_of(selector.match_expressions->begin(), selector.match_expressions->end(),
                     [&](const SelectorRequirement& one) { return Holds(one, labels); });
}

bool Matches(const std::optional<LabelSelector>& selector, const Labels& labels) {
  return selector && Matches(*selector, labels);
}

bool MatchesEverything(const LabelSelector& selector) {
  return (!selector.match_labels || selector.match_labels->empty()) &&
         (!selector.match_expressions || selector.match_expressions->empty());
}

std::string LabelKeyError(std::string_view key) {
  const size_t slash = key.find('/');
  const bool prefix_good = slash == std::string_view::npos || IsDnsSubdomain(key.substr(0, slash));
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (prefix_good && IsLabelName(name)) return "";
  return "a label key is [prefix/]name: the name of at most 63 letters, digits, '-', '_' and '.', "
         "beginning and ending with a letter or digit; the prefix a DNS name";
}

std::string LabelValueError(std::string_view value) {
  if (value.empty() || IsLabelName(value)) return "";
  return "a label value has at most 63 letters, digits, '-', '_' and '.', beginning and ending "
         "with a letter or digit, or is empty";
}

}  // namespace firetower::k8s
