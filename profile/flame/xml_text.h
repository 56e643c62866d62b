// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::profile {

// Escapes `text` for character data and attributes of XML 1.0 and HTML. Invalid UTF-8, and
// characters that XML forbids such as U+0001, become U+FFFD.
std::string XmlText(std::string_view text);

}  // namespace firetower::profile
