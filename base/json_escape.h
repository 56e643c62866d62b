// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower {

// The inside of a JSON string literal (RFC 8259 §7). Bytes that are not UTF-8 become U+FFFD, so the
// result is always valid JSON: symbol names and comms are hostile input.
std::string JsonEscape(std::string_view text);

// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string ToValidUtf8(std::string_view text);

}  // namespace firetower
