// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "symbolizer/demangle/cpp_cursor.h"
#include "symbolizer/demangle/cpp_text.h"

namespace firetower::symbolizer {

// Reads a mangled C++ name and writes it as it goes. Every method that returns a bool says whether
// the name is a common one so far; what was written counts only if it is. In angle brackets are the
// names of the ABI's grammar.
class CppParser {
 public:
  explicit CppParser(std::string_view mangled) : at_(mangled) {}

  std::optional<std::string> Run();

 private:
  static constexpr int kMaxDepth = 48;
  static constexpr size_t kNoPack = SIZE_MAX;

  // What a name ends with, before its template arguments.
  enum class Last : uint8_t { kName, kOperator, kConstructor };

  // A list with commas. Where an element is an empty pack, libiberty leaves its comma, but at the
  // list's end.
  struct List {
    uint16_t item = 0;        // where the last one begins
    uint16_t filled_end = 0;  // of the last that is not empty
    unsigned empty_at_end = 0;
    bool is_first = true;
  };

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
  // Something that nothing has to be written into.
  static bool IsSimple(const CppPart& part) {
    return part.kind == CppPart::Kind::kPlain && part.split == part.end;
  }
  // What depends on a pack is another text elsewhere.
  void AddSubstitution(CppPart part) {
    if (is_repeated_) return;
    if (pack_index_ != kNoPack && part.begin <= pack_at_) part.kind = CppPart::Kind::kLost;
    text_.AddSubstitution(part);
  }
  void BeginItem(List& list) {
    if (!list.is_first) text_.Put(", ");
    list.is_first = false;
    list.item = text_.size();
  }
  void EndItem(List& list) {
    if (text_.size() == list.item) {
      ++list.empty_at_end;
    } else {
      list.empty_at_end = 0;
      list.filled_end = text_.size();
    }
  }
  bool EndList(const List& list) {
    // libiberty's own buffer decides what becomes of several commas.
    if (list.empty_at_end > 1) return false;
    if (list.empty_at_end == 1 && list.filled_end != 0) text_.TakeBackComma(list.filled_end);
    return true;
  }

  // cpp_common.cc
  bool Thunk();
  bool CallOffset();
  bool Encoding();
  bool Name();
  bool NestedName();
  bool Qualifiers(bool may_qualify);
  bool UnscopedName();
  bool LocalName();
  bool EnclosingFunction();
  bool Discriminator();
  bool UnqualifiedName();
  bool SourceName();
  bool Constructor();
  bool Operator();
  bool Closure();

  // cpp_types.cc
  bool Arguments();
  bool ArgumentsUntilEnd(bool is_kept);
  bool Argument(bool is_kept);
  bool AddressOfName();
  bool Pack();
  bool Value();
  bool Type(CppPart& out) {
    if (++depth_ > kMaxDepth) return false;
    const bool is_common = TypeWithin(out);
    --depth_;
    return is_common;
  }
  bool TypeWithin(CppPart& out);
  bool Builtin(CppPart& out);
  bool Expansion(CppPart& out);
  bool CountPack(const CppPart& pack);
  bool ClassName(CppPart& out);
  bool SubstitutedName(CppPart& out, bool& is_new);
  bool Modified(CppPart& out);
  bool Function(CppPart& out);
  bool Array(CppPart& out);
  bool Parameters();
  bool Parameter(CppPart& out);
  bool Substitution(bool is_prefix);

  CppCursor at_;
  CppText text_;
  std::string_view class_name_;  // the last name seen, which a constructor has
  CppPart substitution_{};
  std::string clones_;
  std::string_view thunk_;       // what stands before a thunk's function
  std::string_view qualifiers_;  // of the function, behind its parameters
  uint16_t name_end_ = 0;
  uint16_t result_end_ = 0;
  int depth_ = 0;
  Last last_ = Last::kName;
  bool is_outermost_ = false;      // in the name itself, not in an argument
  bool is_function_name_ = false;  // a name that follows may have qualifiers
  bool is_template_ = false;       // the last name ends with arguments
  bool is_function_ = false;
  bool has_arguments_ = false;  // the name itself, for its function's types
  // Within a pack expansion: which argument is written, of how many, and where it was.
  size_t pack_index_ = kNoPack;
  size_t pack_size_ = kNoPack;
  uint16_t pack_at_ = 0;
  bool is_repeated_ = false;  // the pattern was read before, so its substitutions are there
};

}  // namespace firetower::symbolizer
