// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "symbolizer/demangle.h"

namespace firetower::symbolizer {

namespace {

bool IsWordByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// The end of the bracket group that opens at `begin`, or npos. Inside (), [] and {} other brackets
// may be operators and are left alone; inside <> only those three nest besides <>.
size_t GroupEnd(std::string_view text, size_t begin) {
  const char open = text[begin];
  const char close = open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    char c = text[i];
    if (open == '<' && (c == '(' || c == '[' || c == '{')) {
      i = GroupEnd(text, i);
      if (i == std::string_view::npos) return i;
      --i;
      continue;
    }
    if (open == '<' && c == '>' && text[i - 1] == '-') continue;  // "->"
    if (c == open) ++depth;
    if (c == close && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

// Copies the parts of a demangled name that a label keeps, in one pass.
class Simplifier {
 public:
  explicit Simplifier(std::string_view text) : text_(text) {}

  // Empty when the name's brackets do not match: it is then of no language we know.
  std::string Run() {
    while (position_ < text_.size() && !done_) {
      if (!Step()) return {};
    }
    return std::move(out_);
  }

 private:
  bool Step() {
    char c = text_[position_];
    if (AfterOperatorWord() && c != ' ' && c != '(' && !IsWordByte(c)) return CopyOperator();
    switch (c) {
      case '(':
        return Parenthesis();
      case '<':
        return Angle();
      case '[':
        return CopyGroup();
      case ' ':
        return Space();
      case ')':
        if (unwrapped_) done_ = true;
        break;
      case '>':
        if (kept_angles_ > 0 && !out_.ends_with('-')) --kept_angles_;
        break;
      case '{':
        ++braces_;
        break;
      case '}':
        --braces_;
        break;
      default:
        break;
    }
    if (!done_) Copy(1);
    return true;
  }

  bool AtTop() const { return kept_angles_ == 0 && braces_ <= 0; }
  bool AfterOperatorWord() const {
    static constexpr std::string_view kWord = "operator";
    return out_.ends_with(kWord) &&
           (out_.size() == kWord.size() || !IsWordByte(out_[out_.size() - kWord.size() - 1]));
  }
  void Copy(size_t count) {
    out_ += text_.substr(position_, count);
    position_ += count;
    after_operator_ = false;
  }
  bool CopyOperator() {
    static constexpr std::string_view kSymbols = "+-*/%^&|~!=<>,[]";
    size_t end = std::min(text_.find_first_not_of(kSymbols, position_), text_.size());
    Copy(std::max<size_t>(end - position_, 1));
    after_operator_ = true;
    return true;
  }
  bool CopyGroup() {
    size_t end = GroupEnd(text_, position_);
    if (end == std::string_view::npos) return false;
    Copy(end - position_);
    return true;
  }

  bool Space() {
    bool before_arguments = position_ + 1 < text_.size() && text_[position_ + 1] == '<';
    if (after_operator_ && before_arguments) {  // "operator<< <char>"
      ++position_;
      return true;
    }
    if (AfterOperatorWord()) {  // "operator new", "operator unsigned long"
      in_operator_ = true;
    } else if (AtTop() && !in_operator_) {
      name_start_ = out_.size() + 1;
    }
    Copy(1);
    return true;
  }

  bool Angle() {
    bool arguments =
        after_operator_ ||
        (!out_.empty() && (IsWordByte(out_.back()) || out_.back() == '}' || out_.back() == ']'));
    if (!arguments && out_.ends_with("::")) {  // Rust writes foo::<T>
      out_.resize(out_.size() - 2);
      arguments = true;
    }
    if (!arguments) {  // Rust's <Type as Trait>, Java's <init>
      ++kept_angles_;
      Copy(1);
      return true;
    }
    size_t end = GroupEnd(text_, position_);
    if (end == std::string_view::npos) return false;
    position_ = end;
    return true;
  }

  bool Parenthesis() {
    std::string_view rest = text_.substr(position_);
    static constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (rest.starts_with(kAnonymous)) {
      Copy(kAnonymous.size());
      return true;
    }
    if (AfterOperatorWord() && rest.starts_with("()")) {
      Copy(2);
      after_operator_ = true;
      return true;
    }
    // "void (*name(int))(char)": a function that returns a pointer to a function.
    if (out_.ends_with(' ') && AtTop() && (rest.starts_with("(*") || rest.starts_with("(&"))) {
      out_.clear();
      name_start_ = 0;
      position_ += 2;
      unwrapped_ = true;
      return true;
    }
    bool callable = after_operator_ || in_operator_ ||
                    (!out_.empty() && (IsWordByte(out_.back()) || out_.back() == '}' ||
                                       out_.back() == ']' || out_.back() == '>'));
    if (!callable) return CopyGroup();  // Go's (*T), a tuple
    size_t end = GroupEnd(text_, position_);
    if (end == std::string_view::npos) return false;
    position_ = end;
    after_operator_ = false;
    if (!AtTop()) return true;
    out_.erase(0, name_start_);  // the return type
    name_start_ = 0;
    in_operator_ = false;
    SkipQualifiers();
    return true;
  }

  void SkipQualifiers() {
    static constexpr std::string_view kQualifiers[] = {" const", " volatile", " noexcept", " &&",
                                                       " &"};
    for (bool again = true; again;) {
      again = false;
      for (std::string_view qualifier : kQualifiers) {
        if (!text_.substr(position_).starts_with(qualifier)) continue;
        position_ += qualifier.size();
        again = true;
      }
    }
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string out_;
  size_t name_start_ = 0;  // in out_: behind the last blank outside brackets
  int kept_angles_ = 0;    // "<" copied and not yet closed
  int braces_ = 0;
  bool after_operator_ = false;  // the last thing copied was an operator's symbol
  bool in_operator_ = false;     // within "operator TYPE" or "operator new"
  bool unwrapped_ = false;
  bool done_ = false;
};

// FNV-1a: stable between versions and machines, as labels must be.
uint32_t Hash(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::string CutToLabel(std::string name) {
  if (name.size() <= kMaxLabelBytes) return name;
  std::string suffix = fmt::format("~{:08x}", Hash(name));
  size_t keep = kMaxLabelBytes - suffix.size();
  // Not within a UTF-8 character.
  while (keep > 0 && (static_cast<unsigned char>(name[keep]) & 0xc0) == 0x80) --keep;
  name.resize(keep);
  return name + suffix;
}

}  // namespace

std::string SimplifyName(std::string_view demangled) {
  // CPython's perf trampoline writes py::<module>:/path; its brackets are names.
  bool opaque = demangled.starts_with("py::") || demangled.size() > kMaxDemangledBytes;
  std::string simple = opaque ? std::string() : Simplifier(demangled).Run();
  if (simple.empty()) simple = demangled;
  return CutToLabel(std::move(simple));
}

}  // namespace firetower::symbolizer
