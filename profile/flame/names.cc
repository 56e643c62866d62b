// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/names.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/suggest.h"

namespace firetower::profile {
namespace {

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// Finds the partner of each bracket. The > of `->`, of `=>` and of an operator's name closes
// nothing.
class Brackets {
 public:
  explicit Brackets(std::string_view name) : partner_(name.size(), std::string_view::npos) {
    std::vector<size_t> open;
    for (size_t i = 0; i < name.size(); ++i) {
      if (size_t length = OperatorLength(name, i); length > 0) {
        i += length - 1;
        continue;
      }
      char c = name[i];
      if (c == '(' || c == '<' || c == '[' || c == '{') open.push_back(i);
      if (c != ')' && c != '>' && c != ']' && c != '}') continue;
      if (c == '>' && i > 0 && (name[i - 1] == '-' || name[i - 1] == '=')) continue;
      if (open.empty() || Closing(name[open.back()]) != c) return;
      partner_[open.back()] = i;
      open.pop_back();
    }
    match_ = open.empty();
  }

  bool match() const { return match_; }
  size_t PartnerOf(size_t at) const { return partner_[at]; }

  // Length of `operator` and its symbol at `at`, 0 where none begins: `operator<<`, `operator()`.
  static size_t OperatorLength(std::string_view name, size_t at) {
    constexpr std::string_view kWord = "operator";
    if (name.substr(at, kWord.size()) != kWord) return 0;
    if (at > 0 && IsWord(name[at - 1])) return 0;
    std::string_view rest = name.substr(at + kWord.size());
    for (std::string_view pair : {"()", "[]"}) {
      if (rest.starts_with(pair)) return kWord.size() + pair.size();
    }
    // c++filt puts a space before template arguments: `operator<< <char>`.
    size_t symbols = std::min(rest.find_first_not_of("<>=-+*/%^&|~!,"), rest.size());
    return symbols == 0 ? 0 : kWord.size() + symbols;
  }

 private:
  static char Closing(char open) {
    switch (open) {
      case '(':
        return ')';
      case '<':
        return '>';
      case '[':
        return ']';
      default:
        return '}';
    }
  }
  std::vector<size_t> partner_;
  bool match_ = false;
};

class Simplifier {
 public:
  Simplifier(std::string_view name, NameDetail detail)
      : name_(name), detail_(detail), brackets_(name) {}

  std::string Run() {
    if (!brackets_.match()) return std::string(name_);
    for (size_t i = 0; i < name_.size(); ++i) {
      if (size_t length = Brackets::OperatorLength(name_, i); length > 0) {
        CopyThrough(i, i + length - 1);
        operator_end_ = i + length;
        i = operator_end_ - 1;
      } else {
        i = Take(i);
      }
    }
    DropReturnType();
    while (out_.ends_with(' ')) out_.pop_back();
    return out_.empty() ? std::string(name_) : out_;
  }

 private:
  // Handles the character at `at`, or the whole group it opens; the last index that is done.
  size_t Take(size_t at) {
    char c = name_[at];
    size_t end = c == '(' || c == '<' || c == '[' ? brackets_.PartnerOf(at) : std::string::npos;
    if (end != std::string::npos) {
      if (IsDropped(at, end)) return end;
      // A part in round or pointed brackets that is kept is a name of its own: (anonymous
      // namespace).
      CopyThrough(at, end);
      return end;
    }
    if (c == ' ' && braces_ == 0) {
      if (size_t length = QualifierLength(at); length > 0) return at + length - 1;
      // The first part of `operator bool` belongs to the name.
      if (!HasOperator() && !dropped_parameters_ && !out_.ends_with("operator")) {
        last_space_ = out_.size();
      }
    }
    braces_ += c == '{' ? 1 : 0;
    braces_ -= c == '}' ? 1 : 0;
    out_ += c;
    return at;
  }

  bool IsDropped(size_t at, size_t end) {
    std::string_view inside = name_.substr(at + 1, end - at - 1);
    bool after_word =
        at > 0 && (IsWord(name_[at - 1]) || name_[at - 1] == '>' || name_[at - 1] == ']' ||
                   operator_end_ == at || (operator_end_ == at - 1 && name_[at - 1] == ' '));
    switch (name_[at]) {
      case '(':
        // Parameters, of which nothing but a known tail may come after: not Java's `(I)V`.
        if (!after_word || !EndsOrGoesOn(end + 1)) return false;
        dropped_parameters_ = true;
        return true;
      case '[':
        if (inside.starts_with("clone ")) return true;
        return detail_ == NameDetail::kBare && after_word &&
               (inside.starts_with("abi:") || inside.starts_with("go.shape") || inside == "...");
      default:
        has_template_ = has_template_ || after_word;
        if (detail_ != NameDetail::kBare) return false;
        if (!after_word && out_.size() > 2 && out_.ends_with("::")) {  // Rust's `f::<u32>`
          out_.resize(out_.size() - 2);
          return true;
        }
        return after_word;
    }
  }

  bool HasOperator() const { return operator_end_ != std::string::npos; }

  bool EndsOrGoesOn(size_t at) const {
    if (at == name_.size()) return true;
    char c = name_[at];
    return c == ' ' || c == ':' || c == '[' || c == '#' || c == '}' || c == '.' || c == '&';
  }

  // Length of " const" and the like at the space `at`, where a parameter list was dropped before.
  size_t QualifierLength(size_t at) const {
    if (!dropped_parameters_) return 0;
    for (std::string_view word : {" const", " volatile", " noexcept", " &&", " &"}) {
      size_t end = at + word.size();
      if (name_.substr(at, word.size()) == word && (end == name_.size() || !IsWord(name_[end]))) {
        return word.size();
      }
    }
    return 0;
  }

  // Only templates have their return type in a demangled name: `void F<int>(int)`.
  void DropReturnType() {
    if (!dropped_parameters_ || !has_template_ || last_space_ == std::string::npos) return;
    if (name_.find(" to ") != std::string::npos || name_.find(" for ") != std::string::npos) return;
    if (last_space_ + 1 < out_.size()) out_.erase(0, last_space_ + 1);
  }

  void CopyThrough(size_t at, size_t end) { out_ += name_.substr(at, end - at + 1); }

  std::string_view name_;
  NameDetail detail_;
  Brackets brackets_;
  std::string out_;
  int braces_ = 0;
  size_t last_space_ = std::string::npos;    // in out_, outside of brackets
  size_t operator_end_ = std::string::npos;  // in name_, of the last operator's symbol
  bool dropped_parameters_ = false;
  bool has_template_ = false;
};

}  // namespace

Result<NameDetail> ParseNameDetail(std::string_view text) {
  constexpr std::string_view kNames[] = {"full", "short", "bare"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<NameDetail>(i);
  }
  return Error(ErrorCode::kInvalid,
               fmt::format("'{}' must be full, short or bare{}", text, DidYouMean(text, kNames)));
}

std::string SimplifyName(std::string_view name, NameDetail detail) {
  bool is_plain = name.find_first_of("(<[") == std::string_view::npos;
  // Python's `py::<module>:/app/x.py` only looks like it.
  if (detail == NameDetail::kFull || is_plain || name.starts_with("py::")) return std::string(name);
  return Simplifier(name, detail).Run();
}

}  // namespace firetower::profile
