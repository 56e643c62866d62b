// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/cpp_text.h"

namespace firetower::symbolizer {

CppPart CppText::Copy(const CppPart& part) {
  CppPart copy = part;
  copy.begin = size_;
  if (part.kind == CppPart::Kind::kLost) failed_ = true;
  Put(View(part.begin, part.end));
  copy.end = size_;
  copy.split = static_cast<uint16_t>(copy.begin + (part.split - part.begin));
  return copy;
}

void CppText::Modify(CppPart& part, std::string_view modifier) {
  uint16_t at = part.split;
  size_t bytes = modifier.size();
  if (part.kind == CppPart::Kind::kPlain) {
    Insert(at, modifier);
  } else {
    const bool is_array = part.kind == CppPart::Kind::kArray;
    Insert(at, ")");
    Insert(at, modifier);
    Insert(at, is_array ? " (" : "(");
    at = static_cast<uint16_t>(at + (is_array ? 2 : 1));
    bytes += is_array ? 3 : 2;
    part.kind = CppPart::Kind::kPlain;
  }
  part.split = static_cast<uint16_t>(at + modifier.size());
  part.end = static_cast<uint16_t>(part.end + bytes);
  part.reference = 0;
  part.qualifier = 0;
  part.is_name = false;
}

void CppText::Insert(uint16_t at, std::string_view text) {
  if (at == size_) return Put(text);
  if (!Fits(text.size())) return;
  std::memmove(bytes_.data() + at + text.size(), bytes_.data() + at,
               static_cast<size_t>(size_ - at));
  std::memcpy(bytes_.data() + at, text.data(), text.size());
  size_ = static_cast<uint16_t>(size_ + text.size());
  Shift(substitutions_, substitution_count_, at, text.size());
  Shift(arguments_, argument_count_, at, text.size());
  Shift(elements_, element_count_, at, text.size());
}

void CppText::Shift(Parts& parts, size_t count, uint16_t at, size_t bytes) {
  for (size_t i = 0; i < count; ++i) {
    CppPart& part = parts[i];
    if (part.kind == CppPart::Kind::kPack) continue;
    if (part.begin >= at) {
      part.begin = static_cast<uint16_t>(part.begin + bytes);
      part.end = static_cast<uint16_t>(part.end + bytes);
      part.split = static_cast<uint16_t>(part.split + bytes);
    } else if (part.end > at) {
      part.kind = CppPart::Kind::kLost;
    }
  }
}

}  // namespace firetower::symbolizer
