// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// RFC 3986's %XX decoded; '+' too becomes a blank where `plus_is_blank`. Nothing when a % has no
// two hexadecimal digits.
std::optional<std::string> DecodePercent(std::string_view text, bool plus_is_blank = false);

}  // namespace firetower
