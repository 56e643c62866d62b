// SPDX-License-Identifier: Apache-2.0
#include "profile/select/text_pattern.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <utility>

namespace firetower::profile {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

RE2::Options Options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(int64_t{1} << 20);
  return options;
}

}  // namespace

struct TextPattern::Compiled {
  explicit Compiled(std::string_view text) : expression(Piece(text), Options()) {}
  RE2 expression;
};

Result<TextPattern> TextPattern::Create(std::string_view name, std::string_view text) {
  if (text.size() > kMaxBytes)
    return Error(ErrorCode::kInvalid, fmt::format("{}: an expression of {} bytes: at most {}", name,
                                                  text.size(), kMaxBytes));
  auto compiled = std::make_shared<const Compiled>(text);
  if (!compiled->expression.ok())
    return Error(ErrorCode::kInvalid, fmt::format("{} is not a regular expression (RE2): {}", name,
                                                  compiled->expression.error()));
  TextPattern pattern;
  pattern.compiled_ = std::move(compiled);
  return pattern;
}

bool TextPattern::Matches(std::string_view text) const {
  return RE2::PartialMatch(Piece(text), compiled_->expression);
}

}  // namespace firetower::profile
