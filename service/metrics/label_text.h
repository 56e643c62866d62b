// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::service {

// Appends `value` as the inside of a quoted label value, with the three escapes that both
// exposition formats know (backslash, quote, newline). Bytes that are not UTF-8 become U+FFFD.
void AppendLabelValue(std::string& out, std::string_view value);

}  // namespace firetower::service
