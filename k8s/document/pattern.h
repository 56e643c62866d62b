// SPDX-License-Identifier: Apache-2.0
// RE2, the expressions of CRD patterns and of policies.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace firetower::k8s {

// Whether `pattern`, one of ours, is found in `text`. Anchors are up to the pattern.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// An expression, compiled once. Immutable, and shared by its copies.
class Pattern {
 public:
  // `expression`: one that RegexError() has nothing against.
  explicit Pattern(std::string_view expression);
  // Whether it is found anywhere in `text`. Any thread.
  bool FoundIn(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// Why `expression` is no RE2 expression; "" when it is one.
std::string RegexError(std::string_view expression);

}  // namespace firetower::k8s
