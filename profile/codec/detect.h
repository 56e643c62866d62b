// SPDX-License-Identifier: Apache-2.0
// Parts of telling formats apart by their content: profile/format.h has the whole.
#pragma once

#include <string_view>

#include "base/result.h"

namespace firetower::profile {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
std::string_view WithoutMark(std::string_view text);

// A byte that a pprof message is full of, and texts hardly have.
bool IsBinaryByte(char c);

// True for a text with a few bytes in it that texts hardly have, false for data that is no text.
bool IsNearlyText(std::string_view bytes);

// True when the first fields are some that profile.proto has: what is wrong with it comes later.
bool BeginsAsPprof(std::string_view bytes);

// Lists the formats that are read, for a file that is of none of them.
Error UnknownFormat();

// True of a text of nothing but blanks, and of no text.
bool IsBlankText(std::string_view text);

}  // namespace firetower::profile
