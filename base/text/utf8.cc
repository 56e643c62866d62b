// SPDX-License-Identifier: Apache-2.0
#include "base/text/utf8.h"

namespace firetower {

void AppendUtf8(uint32_t character, std::string& to) {
  const auto put = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (character >= 0xd800 && character < 0xe000) character = 0xfffd;
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0 | character >> 6);
    put(0x80 | (character & 0x3f));
  } else if (character < 0x10000) {
    put(0xe0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3f));
    put(0x80 | (character & 0x3f));
  } else if (character < 0x110000) {
    put(0xf0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3f));
    put(0x80 | (character >> 6 & 0x3f));
    put(0x80 | (character & 0x3f));
  }
}

}  // namespace firetower
