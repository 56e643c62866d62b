// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower::symbolizer {

// A Rust name in the legacy mangling: "_ZN", length-prefixed path elements, "17h" and 16 hex digits
// of hash, "E". The hash is left out. Nothing when the name is not of that form: it may be C++.
std::optional<std::string> DemangleRustLegacy(std::string_view mangled);

}  // namespace firetower::symbolizer
