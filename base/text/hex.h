// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// Returns two lower-case hexadecimal digits for each byte.
std::string ToHex(std::string_view bytes);

// Decodes hexadecimal digits. Returns nothing for another character or an odd number of digits.
std::optional<std::string> FromHex(std::string_view digits);

}  // namespace firetower
