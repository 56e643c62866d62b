// SPDX-License-Identifier: Apache-2.0
// Helpers that detect a format by its content; profile/format.h has the whole detection.
#pragma once

#include <string_view>

#include "base/result.h"

namespace firetower::profile {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
std::string_view WithoutMark(std::string_view text);

// Tells whether a byte is common in pprof messages and rare in texts.
bool IsBinaryByte(char c);

// Tells text with a few binary bytes (true) from data that is no text (false).
bool IsNearlyText(std::string_view bytes);

// Tells whether the first fields are fields of profile.proto. Later errors are reported by the
// decoder.
bool BeginsAsPprof(std::string_view bytes);

// Makes the error for a file of no known format; it lists the formats that can be read.
Error UnknownFormat();

// Tells whether a text is empty or has only blanks.
bool IsBlankText(std::string_view text);

}  // namespace firetower::profile
