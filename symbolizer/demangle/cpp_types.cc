// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "symbolizer/demangle/cpp_parser.h"
#include "symbolizer/demangle/cpp_spellings.h"

namespace firetower::symbolizer {

// <template-args>
bool CppParser::Arguments() {
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

bool CppParser::ArgumentsUntilEnd(bool is_kept) {
  List list;
  while (!at_.Take('E')) {
    if (at_.AtEnd()) return false;
    BeginItem(list);
    if (!Argument(is_kept)) return false;
    EndItem(list);
  }
  return EndList(list);
}

// <template-arg>
bool CppParser::Argument(bool is_kept) {
  CppPart part = PartFrom(text_.size());
  if (at_.Take('J')) {
    return is_kept ? Pack() : ArgumentsUntilEnd(false);
  }
  if (at_.Take('L')) {
    if (!Value()) return false;
    part.kind = CppPart::Kind::kValue;
  } else if (at_.Peek() == 'X') {
    if (!AddressOfName()) return false;
    part.kind = CppPart::Kind::kValue;
  } else if (!Type(part)) {
    return false;
  }
  if (is_kept) text_.AddArgument(part);
  return true;
}

// The one <expression> that is common: a function's or variable's address. A function's types are
// read, and not written, if it is within something.
bool CppParser::AddressOfName() {
  if (!at_.StartsWith("XadL_Z")) return false;
  at_.Skip(6);
  text_.Put('&');
  const bool is_nested = at_.Peek() == 'N';
  const bool has_arguments = std::exchange(has_arguments_, false);
  if (at_.Peek() == 'Z' || !Name() || is_template_ || last_ != Last::kName) return false;
  if (at_.Peek() != 'E') {
    const uint16_t name_end = text_.size();
    const size_t substitutions = text_.substitution_count();
    if (!is_nested || !Parameters()) return false;
    text_.TakeBack(name_end, substitutions);
  }
  has_arguments_ = has_arguments;
  return at_.Take('E') && at_.Take('E');
}

// An argument pack of the name itself, whose elements its function's types may expand.
bool CppParser::Pack() {
  CppPart pack{};
  pack.kind = CppPart::Kind::kPack;
  pack.begin = text_.element_count();
  List list;
  while (!at_.Take('E')) {
    if (at_.AtEnd()) return false;
    BeginItem(list);
    CppPart part = PartFrom(text_.size());
    if (at_.Take('L')) {
      if (!Value()) return false;
      part.kind = CppPart::Kind::kValue;
    } else if (at_.Peek() == 'J' || !Type(part)) {
      return false;
    }
    text_.AddElement(part);
    EndItem(list);
  }
  pack.end = text_.element_count();
  text_.AddArgument(pack);
  return EndList(list);
}

// <expr-primary> of a number, behind its L.
bool CppParser::Value() {
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
    // Floating point, what has no values, and names.
    if (std::string_view("defgnovzZ").find(c) != std::string_view::npos) return false;
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

bool CppParser::TypeWithin(CppPart& out) {
  const char c = at_.Peek();
  bool is_new = true;
  bool is_common = false;
  if (at_.StartsWith("Dp")) {
    is_common = Expansion(out);
  } else if (IsLower(c) || c == 'D') {
    return Builtin(out);
  } else if (IsDigit(c) || c == 'N' || c == 'Z' || at_.StartsWith("St")) {
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
  if (is_common && is_new) AddSubstitution(out);
  return is_common;
}

bool CppParser::Builtin(CppPart& out) {
  std::string_view name;
  const char c = at_.Peek();
  if (c == 'D') {
    at_.Skip();
    const char of_two = at_.Peek();
    name = of_two == 'n'   ? "decltype(nullptr)"
           : of_two == 'i' ? "char32_t"
           : of_two == 's' ? "char16_t"
           : of_two == 'a' ? "auto"
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

// <type> of a pack: its pattern, once for each argument.
bool CppParser::Expansion(CppPart& out) {
  if (pack_index_ != kNoPack) return false;
  at_.Skip(2);
  const CppCursor pattern = at_;
  const uint16_t begin = text_.size();
  const size_t substitutions = text_.substitution_count();
  pack_size_ = kNoPack;
  pack_index_ = 0;
  do {
    at_ = pattern;
    if (pack_index_ > 0) text_.Put(", ");
    is_repeated_ = pack_index_ > 0;
    CppPart part{};
    // Without a pack of the name's own there is nothing to count.
    if (!Type(part) || pack_size_ == kNoPack) return false;
  } while (++pack_index_ < pack_size_);
  if (pack_size_ == 0) text_.TakeBack(begin, substitutions);
  pack_index_ = kNoPack;
  is_repeated_ = false;
  out = PartFrom(begin);
  out.kind = CppPart::Kind::kLost;
  return true;
}

// The first pack of a pattern says how often it is written.
bool CppParser::CountPack(const CppPart& pack) {
  if (pack_index_ == kNoPack) return false;
  const auto size = static_cast<size_t>(pack.end - pack.begin);
  if (pack_size_ != kNoPack && pack_size_ != size) return false;
  pack_size_ = size;
  pack_at_ = text_.size();
  return true;
}

bool CppParser::ClassName(CppPart& out) {
  const uint16_t begin = text_.size();
  if (!Name() || last_ != Last::kName) return false;
  out = NameFrom(begin);
  return true;
}

// A type that begins with a substitution. It is new if there is more to it.
bool CppParser::SubstitutedName(CppPart& out, bool& is_new) {
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
bool CppParser::Modified(CppPart& out) {
  const char c = at_.Peek();
  if (c != 'P' && c != 'R' && c != 'O' && c != 'K' && c != 'V') return false;
  at_.Skip();
  const bool is_parameter = at_.Peek() == 'T';
  if (!Type(out) || out.kind == CppPart::Kind::kLost) return false;
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

bool CppParser::Function(CppPart& out) {
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

bool CppParser::Array(CppPart& out) {
  at_.Skip();
  const std::string_view bound = at_.Digits();
  if (!at_.Take('_')) return false;
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
bool CppParser::Parameters() {
  const auto is_end = [](char c) { return c == '\0' || c == 'E' || c == '.'; };
  if (at_.Peek() == 'v' && is_end(at_.PeekBehind())) {
    at_.Skip();
    return true;
  }
  List list;
  do {
    BeginItem(list);
    // A function's own reference qualifier.
    if (at_.StartsWith("RE") || at_.StartsWith("OE")) return false;
    CppPart part{};
    if (!Type(part)) return false;
    EndItem(list);
  } while (!is_end(at_.Peek()));
  return EndList(list);
}

// <template-param>: one of the name's own arguments, which it comes behind.
bool CppParser::Parameter(CppPart& out) {
  at_.Skip();
  const std::optional<size_t> index = at_.Index(10);
  const CppPart* argument =
      has_arguments_ && index && at_.Peek() != 'I' ? text_.Argument(*index) : nullptr;
  if (argument == nullptr) return false;
  if (argument->kind == CppPart::Kind::kPack) {
    if (!CountPack(*argument)) return false;
    out = PartFrom(text_.size());
    if (pack_size_ == 0) return true;
    argument = text_.Element(argument->begin + pack_index_);
  }
  if (argument->kind == CppPart::Kind::kValue) return false;
  out = text_.Copy(*argument);
  return true;
}

// <substitution>: what was there before, or a name of the standard library.
bool CppParser::Substitution(bool is_prefix) {
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

}  // namespace firetower::symbolizer
