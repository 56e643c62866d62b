// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::cli {

// What standard output can show.
struct Terminal {
  bool is_tty = false;
  bool color = false;
  bool utf8 = false;
  size_t columns = 0;  // 0: no bound
  size_t rows = 0;     // 0: no bound
};

// `color_flag`: auto, always, never or "" (auto). Auto is colour on a terminal that is not dumb,
// unless NO_COLOR is set; CLICOLOR_FORCE asks for it anywhere (bixense.com/clicolors).
Terminal ReadTerminal(std::string_view color_flag);

// All of it to standard output. An error when it was closed or is full.
Status WriteOut(std::string_view text);

enum class Style { kPlain, kBold, kGood, kWarn, kBad, kDim };
// `text` in a style, or as it is when the terminal has no colour.
std::string Styled(const Terminal& terminal, Style style, std::string_view text);

}  // namespace firetower::cli
