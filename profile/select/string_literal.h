// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firetower::profile {

struct StringLiteral {
  std::string value = {};
  size_t length = 0;              // bytes of text used, quotes included
  const char* problem = nullptr;  // why it is none; then `length` is where
};

// Reads the PromQL string at the start of `text`, which begins with one of " ' `. Escapes are those
// of Go: \a \b \f \n \r \t \v \\ \<own quote> \ooo \xhh \uhhhh \Uhhhhhhhh; `…` has none.
StringLiteral ReadStringLiteral(std::string_view text);

}  // namespace firetower::profile
