// SPDX-License-Identifier: Apache-2.0
// RE2 expressions, for the patterns of CRDs and of policies.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace firetower::k8s {

// Tells whether `pattern`, one of ours, matches somewhere in `text`. The pattern may have anchors.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// A compiled expression. Immutable; copies share it.
class Pattern {
 public:
  // `expression` must be one that RegexError() accepts.
  explicit Pattern(std::string_view expression);
  // Tells whether it matches anywhere in `text`. Any thread.
  bool FoundIn(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// Returns the reason why `expression` is not a valid RE2 expression; "" when it is.
std::string RegexError(std::string_view expression);

}  // namespace firetower::k8s
