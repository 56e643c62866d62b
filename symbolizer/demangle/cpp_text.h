// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace firetower::symbolizer {

// What was written for a type or name, and what decides how something around it is written.
struct CppPart {
  enum class Kind : uint8_t {
    kPlain,
    kFunction,  // "int (char)": a pointer to it adds "(*)" inside
    kArray,     // "int [3]": " (*)"
    kValue,     // no type: a template's argument
    kPack,      // several arguments: `begin` to `end` of the elements
    kLost,      // has been written into since
  };
  // Without initial values: there are many of them, of which most names use a few.
  uint16_t begin;
  uint16_t end;
  uint16_t split;  // where a pointer's "*" goes: mostly the end
  Kind kind;
  uint8_t reference;  // 1: its last modifier is "&", 2: "&&"
  char qualifier;     // 'K' or 'V', if that is its last modifier
  bool is_name;       // of a namespace, class or template: something may be inside
};

// The text of a C++ name while it is written, with the parts that the mangled name may refer back
// to. Everything has a bound, and what is beyond it sets failed(): such names are rare.
class CppText {
 public:
  uint16_t size() const { return size_; }
  bool failed() const { return failed_; }
  // What was written last: where a comma was taken back, its blank, as libiberty has it.
  char last() const {
    if (size_ == taken_back_) return ' ';
    return size_ == 0 ? '\0' : bytes_[size_ - 1];
  }
  std::string_view View(uint16_t begin, uint16_t end) const {
    return {bytes_.data() + begin, static_cast<size_t>(end - begin)};
  }

  void Put(char c) { Put(std::string_view(&c, 1)); }
  void Put(std::string_view text) {
    if (text.empty() || !Fits(text.size())) return;
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ = static_cast<uint16_t>(size_ + text.size());
  }
  // Writes a part again.
  CppPart Copy(const CppPart& part);
  // Writes a modifier of the part, which is the last that was written: "*", "&" or " const".
  void Modify(CppPart& part, std::string_view modifier);
  // Takes back the second "&" of a part that is the last.
  void DropLast(CppPart& part) {
    --size_;
    part.split = part.end = size_;
  }

  // Goes back to `size`, behind which stands a comma.
  void TakeBackComma(uint16_t size) { size_ = taken_back_ = size; }
  // Goes back to `size`; the substitutions from `first` on were behind it.
  void TakeBack(uint16_t size, size_t first) {
    size_ = size;
    for (; first < substitution_count_; ++first) substitutions_[first].kind = CppPart::Kind::kLost;
  }

  size_t substitution_count() const { return substitution_count_; }
  void AddSubstitution(const CppPart& part) { Add(part, substitutions_, substitution_count_); }
  const CppPart* Substitution(size_t index) const {
    return index < substitution_count_ ? &substitutions_[index] : nullptr;
  }
  void AddArgument(const CppPart& part) { Add(part, arguments_, argument_count_); }
  void ClearArguments() { argument_count_ = element_count_ = 0; }
  // Of argument packs.
  void AddElement(const CppPart& part) { Add(part, elements_, element_count_); }
  uint16_t element_count() const { return static_cast<uint16_t>(element_count_); }
  const CppPart* Element(size_t index) const { return &elements_[index]; }
  const CppPart* Argument(size_t index) const {
    return index < argument_count_ ? &arguments_[index] : nullptr;
  }

 private:
  static constexpr size_t kMaxBytes = 4096;
  static constexpr size_t kMaxParts = 96;
  using Parts = std::array<CppPart, kMaxParts>;

  bool Fits(size_t bytes) {
    if (bytes > kMaxBytes - size_) failed_ = true;
    return !failed_;
  }
  void Add(const CppPart& part, Parts& parts, size_t& count) {
    if (count == kMaxParts) {
      failed_ = true;
    } else {
      parts[count++] = part;
    }
  }
  void Insert(uint16_t at, std::string_view text);
  static void Shift(Parts& parts, size_t count, uint16_t at, size_t bytes);

  std::array<char, kMaxBytes> bytes_;
  Parts substitutions_;
  Parts arguments_;
  Parts elements_;
  size_t substitution_count_ = 0;
  size_t argument_count_ = 0;
  size_t element_count_ = 0;
  uint16_t size_ = 0;
  uint16_t taken_back_ = UINT16_MAX;
  bool failed_ = false;
};

}  // namespace firetower::symbolizer
