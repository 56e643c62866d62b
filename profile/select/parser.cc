// SPDX-License-Identifier: Apache-2.0
#include "profile/select/parser.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "profile/select/string_literal.h"
#include "profile/type.h"

namespace firetower::profile {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// Characters of a profile type: more than a PromQL metric name allows, which has no '-' and '.'.
bool IsTypeByte(char c) { return IsLetter(c) || IsDigit(c) || c == ':' || c == '-' || c == '.'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Matcher>> Parse() {
    if (text_.size() > Selector::kMaxBytes) {
      return Error(ErrorCode::kInvalid, fmt::format("selector of {} bytes: at most {} are allowed",
                                                    text_.size(), Selector::kMaxBytes));
    }
    SkipSpace();
    RETURN_IF_ERROR(ParseName());
    SkipSpace();
    if (!AtEnd()) {
      if (text_[at_] != '{') return Expected(named_ ? "'{' or the end" : "'{' or a profile type");
      ++at_;
      RETURN_IF_ERROR(ParseBraces());
      SkipSpace();
      if (!AtEnd()) return Expected("the end after '}'");
    }
    return std::move(matchers_);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(text_[at_])) ++at_;
  }
  Error At(size_t at, std::string_view problem) const {
    return {ErrorCode::kInvalid, fmt::format("selector column {}: {}", at + 1, problem)};
  }
  Error Expected(std::string_view what) const {
    if (AtEnd()) return At(at_, fmt::format("expected {}, found the end", what));
    // A whole word reads better than its first letter; other bytes are shown alone.
    size_t end = at_ + 1;
    while (IsTypeByte(text_[at_]) && end < text_.size() && end - at_ < 40 &&
           IsTypeByte(text_[end])) {
      ++end;
    }
    std::string_view found = text_.substr(at_, end - at_);
    if (static_cast<unsigned char>(found[0]) >= 0x80) found = "a byte that is not ASCII";
    return At(at_, fmt::format("expected {}, found {}", what, found));
  }

  Status ParseName() {
    size_t begin = at_;
    while (!AtEnd() && IsTypeByte(text_[at_])) ++at_;
    if (at_ == begin) return OkStatus();
    Result<TypeSelection> selected = ParseTypeSelection(text_.substr(begin, at_ - begin));
    if (!selected) return At(begin, selected.error().message());
    ASSIGN_OR_RETURN(Matcher matcher,
                     Matcher::Create("__name__", MatchOp::kEqual, selected->type.Name()));
    matchers_.push_back(std::move(matcher));
    named_ = true;
    return OkStatus();
  }

  // Behind '{'; a comma may stand before '}'.
  Status ParseBraces() {
    while (true) {
      SkipSpace();
      if (!AtEnd() && text_[at_] == '}') break;
      RETURN_IF_ERROR(ParseMatcher());
      SkipSpace();
      if (AtEnd() || (text_[at_] != ',' && text_[at_] != '}')) return Expected("',' or '}'");
      if (text_[at_] == ',') ++at_;
    }
    ++at_;
    return OkStatus();
  }

  Status ParseMatcher() {
    size_t begin = at_;
    if (matchers_.size() >= Selector::kMaxMatchers) {
      return At(begin, fmt::format("more than {} matchers", Selector::kMaxMatchers));
    }
    while (!AtEnd() && (IsLetter(text_[at_]) || (at_ > begin && IsDigit(text_[at_])))) ++at_;
    if (at_ == begin) return Expected("a label name or '}'");
    std::string name(text_.substr(begin, at_ - begin));
    SkipSpace();
    std::optional<MatchOp> op = ReadOp();
    if (!op) return Expected("one of = != =~ !~");
    SkipSpace();
    if (AtEnd() || std::string_view("\"'`").find(text_[at_]) == std::string_view::npos) {
      return Expected("a quoted string");
    }
    size_t value_at = at_;
    StringLiteral literal = ReadStringLiteral(text_.substr(at_));
    if (literal.problem != nullptr) return At(at_ + literal.length, literal.problem);
    at_ += literal.length;
    Result<Matcher> matcher = Matcher::Create(std::move(name), *op, std::move(literal.value));
    if (!matcher) return At(value_at, matcher.error().message());
    matchers_.push_back(*std::move(matcher));
    return OkStatus();
  }

  std::optional<MatchOp> ReadOp() {
    constexpr std::pair<std::string_view, MatchOp> kOps[] = {{"=~", MatchOp::kRegex},
                                                             {"!~", MatchOp::kNotRegex},
                                                             {"!=", MatchOp::kNotEqual},
                                                             {"=", MatchOp::kEqual}};
    for (auto [spelling, op] : kOps) {
      if (text_.substr(at_).starts_with(spelling)) {
        at_ += spelling.size();
        return op;
      }
    }
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool named_ = false;
  std::vector<Matcher> matchers_;
};

}  // namespace

Result<std::vector<Matcher>> ParseMatchers(std::string_view text) { return Parser(text).Parse(); }

}  // namespace firetower::profile
