// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/cpp_common.h"

#include <algorithm>
#include <utility>

#include "symbolizer/demangle/cpp_cursor.h"
#include "symbolizer/demangle/cpp_spellings.h"
#include "symbolizer/demangle/cpp_text.h"

namespace firetower::symbolizer {

namespace {

// Beyond, libiberty's own limits matter.
constexpr size_t kMaxCommonBytes = 512;
constexpr int kMaxDepth = 48;

// Every method that returns a bool says whether the name is a common one so far; what was written
// counts only if it is. In angle brackets are the names of the ABI's grammar.
class CommonCpp {
 public:
  explicit CommonCpp(std::string_view mangled) : at_(mangled) {}

  std::optional<std::string> Run() {
    if (!Encoding() || text_.failed() || !at_.AtEnd()) return std::nullopt;
    std::string out;
    out.reserve(text_.size() + clones_.size() + 16);
    // The result is read behind the name, and written before it.
    if (result_end_ > name_end_) out.append(text_.View(name_end_, result_end_)).push_back(' ');
    out += text_.View(0, name_end_);
    if (is_function_) {
      out.append("(").append(text_.View(result_end_, text_.size())).append(")");
    }
    if (is_const_) out += " const";
    return out += clones_;
  }

 private:
  // What a name ends with, before its template arguments.
  enum class Last : uint8_t { kName, kOperator, kConstructor };

  CppPart PartFrom(uint16_t begin) const {
    CppPart part{};
    part.begin = begin;
    part.end = part.split = text_.size();
    return part;
  }
  CppPart NameFrom(uint16_t begin) const {
    CppPart part = PartFrom(begin);
    part.is_name = true;
    return part;
  }

  // <encoding> of a function or data.
  bool Encoding() {
    is_outermost_ = true;
    if (!Name()) return false;
    is_outermost_ = false;
    name_end_ = result_end_ = text_.size();
    if (at_.AtEnd()) return !is_const_;
    has_arguments_ = is_template_;
    is_function_ = true;
    if (is_template_ && last_ != Last::kConstructor) {
      CppPart result{};
      if (!Type(result) || !IsSimple(result)) return false;
      result_end_ = text_.size();
    }
    if (!Parameters()) return false;
    for (auto clone = at_.Clone(); !clone.empty(); clone = at_.Clone()) {
      clones_.append(" [clone ").append(clone).append("]");
    }
    return true;
  }

  bool Name() { return at_.Peek() == 'N' ? NestedName() : UnscopedName(); }

  // <nested-name>, from its N to its E.
  bool NestedName() {
    at_.Skip();
    if (at_.Take('K')) {
      if (!is_outermost_) return false;
      is_const_ = true;
    }
    const uint16_t begin = text_.size();
    char c = 'S';  // a substitution alone is no nested name
    last_ = Last::kName;
    for (bool is_first = true; !at_.Take('E'); is_first = false) {
      c = at_.Peek();
      if (c == 'I') {
        if (is_first || !Arguments()) return false;
      } else if (c == 'S') {
        if (!is_first || !Substitution(true) || !substitution_.is_name) return false;
      } else {
        // Nothing is inside an operator or a constructor, and these are inside of something.
        if (last_ != Last::kName) return false;
        if (!is_first) text_.Put("::");
        if (!UnqualifiedName() || (is_first && last_ != Last::kName)) return false;
      }
      is_template_ = c == 'I';
      if (c != 'S' && at_.Peek() != 'E') text_.AddSubstitution(NameFrom(begin));
    }
    return c != 'S';
  }

  // <unscoped-name>, maybe with template arguments.
  bool UnscopedName() {
    const uint16_t begin = text_.size();
    if (at_.StartsWith("St")) {
      at_.Skip(2);
      text_.Put("std::");
    }
    if (!UnqualifiedName()) return false;
    is_template_ = false;
    if (at_.Peek() != 'I') return true;
    text_.AddSubstitution(NameFrom(begin));
    if (!Arguments()) return false;
    is_template_ = true;
    return true;
  }

  bool UnqualifiedName() {
    const char c = at_.Peek();
    last_ = Last::kName;
    if (IsDigit(c)) {
      if (!SourceName()) return false;
    } else if (c == 'L') {  // of internal linkage
      at_.Skip();
      if (!SourceName() || at_.Peek() == '_') return false;
    } else if (c == 'C' || c == 'D') {
      last_ = Last::kConstructor;
      if (!Constructor()) return false;
    } else {
      last_ = Last::kOperator;
      if (!Operator()) return false;
    }
    const std::string_view class_name = class_name_;
    while (at_.Take('B')) {
      text_.Put("[abi:");
      if (!SourceName()) return false;
      text_.Put(']');
    }
    class_name_ = class_name;
    return true;
  }

  bool SourceName() {
    class_name_ = at_.SourceName();
    if (class_name_.size() >= 10 && class_name_.starts_with("_GLOBAL_") && class_name_[9] == 'N' &&
        std::string_view("._$").find(class_name_[8]) != class_name_.npos) {
      class_name_ = "(anonymous namespace)";
    }
    text_.Put(class_name_);
    return !class_name_.empty();
  }

  bool Constructor() {
    const bool is_destructor = at_.Take('D');
    if (!is_destructor) at_.Skip();
    const std::string_view kinds = is_destructor ? "01245" : "12345";
    if (class_name_.empty() || kinds.find(at_.Peek()) == kinds.npos) return false;
    at_.Skip();
    if (is_destructor) text_.Put('~');
    text_.Put(class_name_);
    return true;
  }

  bool Operator() {
    const auto* found = std::find_if(
        std::begin(kCppOperators), std::end(kCppOperators), [&](const CppOperator& it) {
          return it.code[0] == at_.Peek() && it.code[1] == at_.PeekBehind();
        });
    if (found == std::end(kCppOperators)) return false;
    at_.Skip(2);
    text_.Put("operator");
    text_.Put(found->name);
    return true;
  }

  // <template-args>
  bool Arguments() {
    const std::string_view class_name = class_name_;
    const Last last = last_;
    const bool is_outermost = std::exchange(is_outermost_, false);
    if (++depth_ > kMaxDepth) return false;
    at_.Skip();
    if (is_outermost) text_.ClearArguments();
    text_.Put(text_.last() == '<' ? " <" : "<");
    if (!ArgumentsUntilEnd(is_outermost)) return false;
    text_.Put(text_.last() == '>' ? " >" : ">");
    --depth_;
    is_outermost_ = is_outermost;
    last_ = last;
    class_name_ = class_name;
    return true;
  }

  // At least one: where there is none, libiberty's commas are peculiar.
  bool ArgumentsUntilEnd(bool is_kept) {
    bool is_first = true;
    do {
      if (!is_first) text_.Put(", ");
      is_first = false;
      CppPart part = PartFrom(text_.size());
      if (at_.Take('J')) {
        if (!ArgumentsUntilEnd(false)) return false;
        part.kind = CppPart::Kind::kLost;
      } else if (at_.Take('L')) {
        if (!Value()) return false;
        part.kind = CppPart::Kind::kValue;
      } else if (!Type(part)) {
        return false;
      }
      if (is_kept) text_.AddArgument(part);
    } while (!at_.Take('E'));
    return true;
  }

  // <expr-primary> of a number, behind its L.
  bool Value() {
    const char c = at_.Peek();
    if (at_.StartsWith("b0E") || at_.StartsWith("b1E")) {
      text_.Put(at_.PeekBehind() == '1' ? "true" : "false");
      at_.Skip(3);
      return true;
    }
    std::string_view suffix;
    if (IsLower(c) && !kCppBuiltins[static_cast<size_t>(c - 'a')].is_cast) {
      suffix = kCppBuiltins[static_cast<size_t>(c - 'a')].suffix;
      at_.Skip();
    } else {
      // Floating point, and what has no values.
      if (std::string_view("defgnovz").find(c) != std::string_view::npos) return false;
      text_.Put('(');
      CppPart type{};
      if (!Type(type) || type.kind != CppPart::Kind::kPlain) return false;
      text_.Put(')');
    }
    if (at_.Take('n')) text_.Put('-');
    const std::string_view digits = at_.Digits();
    text_.Put(digits);
    text_.Put(suffix);
    return !digits.empty() && at_.Take('E');
  }

  bool Type(CppPart& out) {
    if (++depth_ > kMaxDepth) return false;
    const bool is_common = TypeWithin(out);
    --depth_;
    return is_common;
  }

  // Something that nothing has to be written into.
  static bool IsSimple(const CppPart& part) {
    return part.kind == CppPart::Kind::kPlain && part.split == part.end;
  }

  bool TypeWithin(CppPart& out) {
    const char c = at_.Peek();
    bool is_new = true;
    bool is_common = false;
    if (IsLower(c) || c == 'D') return Builtin(out);
    if (IsDigit(c) || c == 'N' || at_.StartsWith("St")) {
      is_common = ClassName(out);
    } else if (c == 'S') {
      is_common = SubstitutedName(out, is_new);
    } else if (c == 'T') {
      is_common = Parameter(out);
    } else if (c == 'F') {
      is_common = Function(out);
    } else if (c == 'A') {
      is_common = Array(out);
    } else {
      is_common = Modified(out);
    }
    if (is_common && is_new) text_.AddSubstitution(out);
    return is_common;
  }

  bool Builtin(CppPart& out) {
    std::string_view name;
    const char c = at_.Peek();
    if (c == 'D') {
      at_.Skip();
      const char of_two = at_.Peek();
      name = of_two == 'n'   ? "decltype(nullptr)"
             : of_two == 'i' ? "char32_t"
             : of_two == 's' ? "char16_t"
                             : "";
    } else {
      name = kCppBuiltins[static_cast<size_t>(c - 'a')].name;
    }
    if (name.empty()) return false;
    at_.Skip();
    const uint16_t begin = text_.size();
    text_.Put(name);
    out = PartFrom(begin);
    return true;
  }

  bool ClassName(CppPart& out) {
    const uint16_t begin = text_.size();
    if (!Name() || last_ != Last::kName) return false;
    out = NameFrom(begin);
    return true;
  }

  // A type that begins with a substitution. It is new if there is more to it.
  bool SubstitutedName(CppPart& out, bool& is_new) {
    const uint16_t begin = text_.size();
    if (!Substitution(false)) return false;
    out = substitution_;
    is_new = at_.Peek() == 'I';
    if (!is_new) return true;
    if (!out.is_name || !Arguments()) return false;
    out = NameFrom(begin);
    return true;
  }

  // Pointers, references, and one qualifier.
  bool Modified(CppPart& out) {
    const char c = at_.Peek();
    if (c != 'P' && c != 'R' && c != 'O' && c != 'K' && c != 'V') return false;
    at_.Skip();
    const bool is_parameter = at_.Peek() == 'T';
    if (!Type(out)) return false;
    // A reference of a reference is one, as is const of const, but only where a template's argument
    // is put in.
    if (out.reference != 0 && !is_parameter) return false;
    if (c == 'K' || c == 'V') {
      if (out.kind != CppPart::Kind::kPlain || out.reference != 0) return false;
      if (out.qualifier != 0) return out.qualifier == c && is_parameter;
      text_.Modify(out, c == 'K' ? " const" : " volatile");
      out.qualifier = c;
    } else if (c == 'P') {
      if (out.reference != 0) return false;
      text_.Modify(out, "*");
    } else if (out.reference == 0) {
      text_.Modify(out, c == 'R' ? "&" : "&&");
      out.reference = c == 'R' ? 1 : 2;
    } else if (c == 'R' && out.reference == 2) {
      if (!IsSimple(out)) return false;
      text_.DropLast(out);
      out.reference = 1;
    }
    return true;
  }

  bool Function(CppPart& out) {
    const uint16_t begin = text_.size();
    at_.Skip();
    CppPart result{};
    if (!Type(result) || !IsSimple(result)) return false;
    text_.Put(' ');
    const uint16_t split = text_.size();
    text_.Put('(');
    if (!Parameters() || !at_.Take('E')) return false;
    text_.Put(')');
    out = PartFrom(begin);
    out.split = split;
    out.kind = CppPart::Kind::kFunction;
    return true;
  }

  bool Array(CppPart& out) {
    at_.Skip();
    const std::string_view bound = at_.Digits();
    if (bound.empty() || !at_.Take('_')) return false;
    const uint16_t begin = text_.size();
    CppPart element{};
    if (!Type(element) || !IsSimple(element) || element.reference != 0) return false;
    text_.Put(" [");
    text_.Put(bound);
    text_.Put(']');
    out = PartFrom(begin);
    out.split = element.end;
    out.kind = CppPart::Kind::kArray;
    return true;
  }

  // Of a function, up to the end of its type.
  bool Parameters() {
    const auto is_end = [](char c) { return c == '\0' || c == 'E' || c == '.'; };
    if (at_.Peek() == 'v' && is_end(at_.PeekBehind())) {
      at_.Skip();
      return true;
    }
    bool is_first = true;
    do {
      if (!is_first) text_.Put(", ");
      is_first = false;
      // A function's own reference qualifier.
      if (at_.StartsWith("RE") || at_.StartsWith("OE")) return false;
      CppPart part{};
      if (!Type(part)) return false;
    } while (!is_end(at_.Peek()));
    return true;
  }

  // <template-param>: one of the name's own arguments, which it comes behind.
  bool Parameter(CppPart& out) {
    at_.Skip();
    const std::optional<size_t> index = at_.Index(10);
    const CppPart* argument =
        has_arguments_ && index && at_.Peek() != 'I' ? text_.Argument(*index) : nullptr;
    if (argument == nullptr || argument->kind == CppPart::Kind::kValue) return false;
    out = text_.Copy(*argument);
    return true;
  }

  // <substitution>: what was there before, or a name of the standard library.
  bool Substitution(bool is_prefix) {
    at_.Skip();
    const char c = at_.Peek();
    if (IsDigit(c) || c == '_' || IsUpper(c)) {
      const std::optional<size_t> index = at_.Index(36);
      const CppPart* part = index ? text_.Substitution(*index) : nullptr;
      if (part == nullptr) return false;
      substitution_ = text_.Copy(*part);
      return true;
    }
    const auto* found = std::find_if(std::begin(kCppStandardNames), std::end(kCppStandardNames),
                                     [&](const CppStandardName& it) { return it.code == c; });
    if (found == std::end(kCppStandardNames)) return false;
    at_.Skip();
    if (at_.Peek() == 'B') return false;
    const uint16_t begin = text_.size();
    const bool is_whole = is_prefix && (at_.Peek() == 'C' || at_.Peek() == 'D');
    text_.Put(is_whole ? found->with_arguments : found->name);
    if (!found->class_name.empty()) class_name_ = found->class_name;
    substitution_ = NameFrom(begin);
    return true;
  }

  CppCursor at_;
  CppText text_;
  std::string_view class_name_;  // the last name seen, which a constructor has
  CppPart substitution_{};
  std::string clones_;
  uint16_t name_end_ = 0;
  uint16_t result_end_ = 0;
  int depth_ = 0;
  Last last_ = Last::kName;
  bool is_outermost_ = false;  // in the name itself, not in an argument
  bool is_template_ = false;   // the last name ends with arguments
  bool is_const_ = false;
  bool is_function_ = false;
  bool has_arguments_ = false;  // the name itself, for its function's types
};

}  // namespace

std::optional<std::string> DemangleCommonCpp(std::string_view mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > kMaxCommonBytes) return std::nullopt;
  return CommonCpp(mangled.substr(2)).Run();
}

}  // namespace firetower::symbolizer
