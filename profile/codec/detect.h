// SPDX-License-Identifier: Apache-2.0
// Parts of telling formats apart by their content: profile/format.h has the whole.
#pragma once

#include <string_view>

namespace firetower::profile {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// A byte that a pprof message is full of, and texts hardly have.
bool IsBinaryByte(char c);

// True of a text of nothing but blanks, and of no text.
bool IsBlankText(std::string_view text);

}  // namespace firetower::profile
