// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// Two lower-case hexadecimal digits for each byte.
std::string ToHex(std::string_view bytes);

// The bytes again. Nothing when a character is no such digit or one is left over.
std::optional<std::string> FromHex(std::string_view digits);

}  // namespace firetower
