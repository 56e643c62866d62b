// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::profile {

// `text` as character data or an attribute's value of XML 1.0, and of HTML: whatever bytes it has.
// What is no valid UTF-8 and what XML allows nowhere, such as U+0001, become U+FFFD.
std::string XmlText(std::string_view text);

// The first and last characters of valid UTF-8 with "…" between, `max_chars` in all (code points);
// "" below 3. Names of C++ differ at their ends, those of Java at their beginnings.
std::string CutMiddle(std::string_view text, size_t max_chars);

}  // namespace firetower::profile
