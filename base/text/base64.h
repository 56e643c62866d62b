// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower::k8s {

// Base64 (RFC 4648 §4), padded, line breaks and blanks left out first: kubeconfigs are wrapped by
// hand. Nothing when a character, the length or the padding is wrong.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace firetower::k8s
