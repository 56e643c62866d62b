// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace firetower {

// Appends a character as UTF-8. Half of a pair of UTF-16 is no character and becomes U+FFFD;
// nothing is appended for a number beyond U+10FFFF.
void AppendUtf8(uint32_t character, std::string& to);

}  // namespace firetower
