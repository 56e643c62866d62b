// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace firetower::symbolizer {

// False, and nothing appended, for what is no Unicode scalar value.
inline bool AppendUtf8(uint32_t code_point, std::string& out) {
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff)) return false;
  auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
    return true;
  }
  int continuations = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  static constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  put(kLead[continuations] | (code_point >> (6 * continuations)));
  while (continuations-- > 0) put(0x80 | ((code_point >> (6 * continuations)) & 0x3f));
  return true;
}

}  // namespace firetower::symbolizer
