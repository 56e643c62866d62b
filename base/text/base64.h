// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// Encodes in Base64 (RFC 4648 §4), padded, on one line.
std::string EncodeBase64(std::string_view bytes);

// Decodes Base64. Ignores line breaks and blanks, because kubeconfigs are wrapped by hand. Returns
// nothing when a character, the length or the padding is wrong.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace firetower
