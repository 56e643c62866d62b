// SPDX-License-Identifier: Apache-2.0
// PromQL label matchers: {namespace="shop",container=~"a|b",pod!=""}.
//
// As in Prometheus: = != =~ !~, regular expressions (RE2) match the whole value, an absent label
// is the empty string, strings are "…", '…' with escapes or `…` without. More than Prometheus: the
// empty string and {} select everything. `cpu{…}` (a profile type, ours or Pyroscope's id) sets
// __name__ to the type's own spelling.
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
  // kInvalid when the regular expression does not compile.
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

  // Everything.
  Selector() = default;
  explicit Selector(std::vector<Matcher> matchers) : matchers_(std::move(matchers)) {}

  // kInvalid: "selector column 9: expected …, found …". Columns count bytes from 1.
  static Result<Selector> Parse(std::string_view text);

  const std::vector<Matcher>& matchers() const { return matchers_; }
  bool empty() const { return matchers_.empty(); }

  // `value_of(name)` gives a label's value, "" for an absent one.
  template <typename ValueOf>
  bool Matches(const ValueOf& value_of) const {
    for (const Matcher& matcher : matchers_) {
      if (!matcher.Matches(value_of(std::string_view(matcher.name())))) return false;
    }
    return true;
  }

  // Some matcher is about that label.
  bool Mentions(std::string_view name) const {
    return std::any_of(matchers_.begin(), matchers_.end(),
                       [&](const Matcher& matcher) { return matcher.name() == name; });
  }
  // The value when some matcher says name="value": lets a store narrow what it lists.
  std::optional<std::string> EqualTo(std::string_view name) const;
  // A selector that also has `matcher`.
  Selector With(Matcher matcher) const;

  // Canonical text; Parse(ToString()) selects the same.
  std::string ToString() const;

 private:
  std::vector<Matcher> matchers_;
};

class Profile;
// Returns the samples whose labels match; numbers match as decimal text. Of several labels of one
// key each counts: {key="a"} keeps a sample that has the label a, {key!="a"} one that has it not.
Profile FilterSamples(const Profile& profile, const Selector& selector);

}  // namespace firetower::profile
