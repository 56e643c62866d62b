// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// Base64 (RFC 4648 §4), padded, on one line.
std::string EncodeBase64(std::string_view bytes);

// The bytes again; line breaks and blanks are left out first: kubeconfigs are wrapped by hand.
// Nothing when a character, the length or the padding is wrong.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace firetower
