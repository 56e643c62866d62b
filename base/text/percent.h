// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// Decodes RFC 3986's %XX, and with `plus_is_blank` also '+' as a blank. Returns nothing when a % is
// not followed by two hexadecimal digits.
std::optional<std::string> DecodePercent(std::string_view text, bool plus_is_blank = false);

}  // namespace firetower
