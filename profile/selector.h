// SPDX-License-Identifier: Apache-2.0
// Label matchers of PromQL: {namespace="shop",container=~"a|b",pod!=""}.
//
// Follows Prometheus: the operators are = != =~ !~, regular expressions (RE2) match the whole
// value, an absent label is the empty string, and strings are "…", '…' with escapes or `…` without.
// Unlike in Prometheus, the empty string and {} select everything, and `cpu{…}` (a profile type,
// ours or Pyroscope's id) sets __name__ to the type's own spelling.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::profile {

enum class MatchOp : unsigned char { kEqual, kNotEqual, kRegex, kNotRegex };

class Regex;  // a compiled RE2, hidden from this header

class Matcher {
 public:
  // Makes a matcher. kInvalid: the regular expression does not compile.
  static Result<Matcher> Create(std::string name, MatchOp op, std::string value);

  const std::string& name() const { return name_; }
  MatchOp op() const { return op_; }
  const std::string& value() const { return value_; }
  bool Matches(std::string_view label_value) const;

 private:
  Matcher(std::string name, MatchOp op, std::string value, std::shared_ptr<const Regex> regex);

  std::string name_;
  MatchOp op_;
  std::string value_;
  std::shared_ptr<const Regex> regex_;  // null unless kRegex or kNotRegex
};

// Immutable; may be shared between threads.
class Selector {
 public:
  static constexpr size_t kMaxBytes = 64 << 10;
  static constexpr size_t kMaxMatchers = 64;

  // Selects everything.
  Selector() = default;
  explicit Selector(std::vector<Matcher> matchers) : matchers_(std::move(matchers)) {}

  // Parses a selector. kInvalid: "selector column 9: expected …, found …". Columns count bytes from
  // 1.
  static Result<Selector> Parse(std::string_view text);

  const std::vector<Matcher>& matchers() const { return matchers_; }
  bool empty() const { return matchers_.empty(); }

  // Tells whether all matchers match. `value_of(name)` returns a label's value, "" for an absent
  // one.
  template <typename ValueOf>
  bool Matches(const ValueOf& value_of) const {
    for (const Matcher& matcher : matchers_) {
      if (!matcher.Matches(value_of(std::string_view(matcher.name())))) return false;
    }
    return true;
  }

  // Tells whether some matcher uses that label.
  bool Mentions(std::string_view name) const {
    return std::any_of(matchers_.begin(), matchers_.end(),
                       [&](const Matcher& matcher) { return matcher.name() == name; });
  }
  // Returns the value of a matcher name="value", if there is one, so that a store can list less.
  std::optional<std::string> EqualTo(std::string_view name) const;
  // Returns a selector that also has `matcher`.
  Selector With(Matcher matcher) const;

  // Returns canonical text; Parse(ToString()) selects the same.
  std::string ToString() const;

 private:
  std::vector<Matcher> matchers_;
};

class Profile;
// Returns the samples whose labels match. Numbers match as decimal text. A key with several labels
// counts for each of them: {key="a"} keeps a sample that has the label a, {key!="a"} one that does
// not have it.
Profile FilterSamples(const Profile& profile, const Selector& selector);

}  // namespace firetower::profile
