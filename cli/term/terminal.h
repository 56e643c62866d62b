// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::cli {

// The capabilities of standard output.
struct Terminal {
  bool is_tty = false;
  bool color = false;
  bool utf8 = false;
  size_t columns = 0;  // 0: no bound
  size_t rows = 0;     // 0: no bound
};

// Detects the terminal. `color_flag` is auto, always, never or "" (auto). Auto means colour on a
// terminal that is not dumb, unless NO_COLOR is set; CLICOLOR_FORCE forces it everywhere
// (bixense.com/clicolors).
Terminal ReadTerminal(std::string_view color_flag);

// Writes all of the text to standard output. Fails if it was closed or is full.
Status WriteOut(std::string_view text);

enum class Style { kPlain, kBold, kGood, kWarn, kBad, kDim };
// Returns `text` in a style, or unchanged if the terminal has no colour.
std::string Styled(const Terminal& terminal, Style style, std::string_view text);

}  // namespace firetower::cli
