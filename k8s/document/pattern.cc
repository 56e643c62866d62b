// SPDX-License-Identifier: Apache-2.0
// The one place here that sees libre2. It does not throw.
#include "k8s/document/pattern.h"

#include <re2/re2.h>

#include "base/check.h"

namespace firetower::k8s {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

RE2::Options Quiet() {
  RE2::Options options;
  options.set_log_errors(false);  // it would write to stderr
  return options;
}

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(std::string_view text) : expression(Piece(text), Quiet()) {}
  RE2 expression;
};

Pattern::Pattern(std::string_view expression)
    : compiled_(std::make_shared<const Compiled>(expression)) {
  CHECK(compiled_->expression.ok());
}

bool Pattern::FoundIn(std::string_view text) const {
  return RE2::PartialMatch(Piece(text), compiled_->expression);
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  return Pattern(pattern).FoundIn(text);
}

std::string RegexError(std::string_view expression) {
  const RE2 compiled(Piece(expression), Quiet());
  return compiled.ok() ? "" : compiled.error();
}

}  // namespace firetower::k8s
