// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/cpp_common.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "symbolizer/demangle/cpp_parser.h"
#include "symbolizer/demangle/cpp_spellings.h"

namespace firetower::symbolizer {

namespace {

// Beyond, libiberty's own limits matter.
constexpr size_t kMaxCommonBytes = 512;

}  // namespace

std::optional<std::string> CppParser::Run() {
  if (!Thunk() || !Encoding() || text_.failed() || !at_.AtEnd()) return std::nullopt;
  std::string out;
  out.reserve(thunk_.size() + text_.size() + clones_.size() + 16);
  out += thunk_;
  // The result is read behind the name, and written before it.
  if (result_end_ > name_end_) out.append(text_.View(name_end_, result_end_)).push_back(' ');
  out += text_.View(0, name_end_);
  if (is_function_) {
    out.append("(").append(text_.View(result_end_, text_.size())).append(")");
  }
  return out.append(qualifiers_) += clones_;
}

// <special-name> of a function that adjusts `this` and goes on; true also if it is none.
bool CppParser::Thunk() {
  if (at_.StartsWith("Th")) {
    thunk_ = "non-virtual thunk to ";
    at_.Skip(2);
    return CallOffset();
  }
  if (at_.StartsWith("Tv")) {
    thunk_ = "virtual thunk to ";
    at_.Skip(2);
    return CallOffset() && CallOffset();
  }
  return true;
}

// A number, which is not written.
bool CppParser::CallOffset() {
  at_.Take('n');
  return !at_.Digits().empty() && at_.Take('_');
}

// <encoding> of a function or data.
bool CppParser::Encoding() {
  is_outermost_ = is_function_name_ = true;
  if (!Name()) return false;
  is_outermost_ = false;
  name_end_ = result_end_ = text_.size();
  if (at_.AtEnd()) return qualifiers_.empty();
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

bool CppParser::Name() {
  const char c = at_.Peek();
  return c == 'N' ? NestedName() : c == 'Z' ? LocalName() : UnscopedName();
}

// <nested-name>, from its N to its E.
bool CppParser::NestedName() {
  at_.Skip();
  const bool may_qualify = std::exchange(is_function_name_, false);
  if (!Qualifiers(may_qualify)) return false;
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
    if (c != 'S' && at_.Peek() != 'E') AddSubstitution(NameFrom(begin));
  }
  return c != 'S';
}

// <CV-qualifiers> and <ref-qualifier> of a function.
bool CppParser::Qualifiers(bool may_qualify) {
  const bool is_const = at_.Take('K');
  const char reference = at_.Peek();
  std::string_view qualifiers = is_const ? " const" : "";
  if (reference == 'R' || reference == 'O') {
    at_.Skip();
    qualifiers =
        reference == 'R' ? (is_const ? " const &" : " &") : (is_const ? " const &&" : " &&");
  }
  if (qualifiers.empty()) return true;
  qualifiers_ = qualifiers;
  return may_qualify;
}

// <unscoped-name>, maybe with template arguments.
bool CppParser::UnscopedName() {
  is_function_name_ = false;
  const uint16_t begin = text_.size();
  if (at_.StartsWith("St")) {
    at_.Skip(2);
    text_.Put("std::");
  }
  if (!UnqualifiedName()) return false;
  is_template_ = false;
  if (at_.Peek() != 'I') return true;
  AddSubstitution(NameFrom(begin));
  if (!Arguments()) return false;
  is_template_ = true;
  return true;
}

// <local-name>: what is within a function, of which libiberty leaves the result out.
bool CppParser::LocalName() {
  if (++depth_ > kMaxDepth) return false;
  at_.Skip();
  const bool is_outermost = std::exchange(is_outermost_, false);
  const bool is_function_name = is_function_name_;
  const bool has_arguments = std::exchange(has_arguments_, false);
  const std::string_view qualifiers = std::exchange(qualifiers_, {});
  if (!EnclosingFunction()) return false;
  is_outermost_ = is_outermost;
  is_function_name_ = is_function_name;
  has_arguments_ = has_arguments;
  qualifiers_ = qualifiers;
  text_.Put("::");
  // String literals, default arguments and what is local again are rare.
  if (std::string_view("sdZ").find(at_.Peek()) != std::string_view::npos) return false;
  const bool is_closure = at_.Peek() == 'U';
  if (!Name() || (!is_closure && !Discriminator())) return false;
  --depth_;
  return true;
}

// Not of a template: its types would be of other arguments than the outermost name's.
bool CppParser::EnclosingFunction() {
  is_function_name_ = true;
  if (!Name() || (is_template_ && last_ != Last::kConstructor)) return false;
  is_function_name_ = false;
  if (at_.Peek() != 'E') {
    text_.Put('(');
    if (!Parameters()) return false;
    text_.Put(')');
  }
  text_.Put(qualifiers_);
  return at_.Take('E');
}

// What tells equal names within a function apart is not written.
bool CppParser::Discriminator() {
  if (!at_.Take('_')) return true;
  const bool is_long = at_.Take('_');
  return !at_.Digits().empty() && (!is_long || at_.Take('_'));
}

bool CppParser::UnqualifiedName() {
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
  } else if (c == 'U') {
    if (!Closure()) return false;
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

bool CppParser::SourceName() {
  class_name_ = at_.SourceName();
  if (class_name_.size() >= 10 && class_name_.starts_with("_GLOBAL_") && class_name_[9] == 'N' &&
      std::string_view("._$").find(class_name_[8]) != class_name_.npos) {
    class_name_ = "(anonymous namespace)";
  }
  text_.Put(class_name_);
  return !class_name_.empty();
}

bool CppParser::Constructor() {
  const bool is_destructor = at_.Take('D');
  if (!is_destructor) at_.Skip();
  const std::string_view kinds = is_destructor ? "01245" : "12345";
  if (class_name_.empty() || kinds.find(at_.Peek()) == kinds.npos) return false;
  at_.Skip();
  if (is_destructor) text_.Put('~');
  text_.Put(class_name_);
  return true;
}

bool CppParser::Operator() {
  const auto* found =
      std::find_if(std::begin(kCppOperators), std::end(kCppOperators), [&](const CppOperator& it) {
        return it.code[0] == at_.Peek() && it.code[1] == at_.PeekBehind();
      });
  if (found == std::end(kCppOperators)) return false;
  at_.Skip(2);
  text_.Put("operator");
  text_.Put(found->name);
  return true;
}

// <closure-type-name> or <unnamed-type-name>
bool CppParser::Closure() {
  const uint16_t begin = text_.size();
  at_.Skip();
  class_name_ = {};
  const bool is_lambda = at_.Take('l');
  if (is_lambda) {
    // Its types may be of its own arguments.
    const bool has_arguments = std::exchange(has_arguments_, false);
    text_.Put("{lambda(");
    if (!Parameters() || !at_.Take('E')) return false;
    text_.Put(")#");
    has_arguments_ = has_arguments;
    class_name_ = {};
  } else {
    if (!at_.Take('t')) return false;
    text_.Put("{unnamed type#");
  }
  const std::optional<size_t> index = at_.Index(10);
  if (!index) return false;
  std::array<char, 8> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), *index + 1);
  text_.Put(std::string_view(digits.data(), static_cast<size_t>(written.ptr - digits.data())));
  text_.Put('}');
  if (!is_lambda) AddSubstitution(NameFrom(begin));
  return true;
}

std::optional<std::string> DemangleCommonCpp(std::string_view mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > kMaxCommonBytes) return std::nullopt;
  return CppParser(mangled.substr(2)).Run();
}

}  // namespace firetower::symbolizer
