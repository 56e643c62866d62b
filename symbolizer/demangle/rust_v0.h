// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower::symbolizer {

// A Rust name in the v0 mangling ("_R…", Rust RFC 2603), without crate hashes. Nothing when it is
// malformed, nests too deeply, grows beyond kMaxDemangledBytes, or uses a form of constant that is
// not an integer, bool, char or placeholder.
std::optional<std::string> DemangleRustV0(std::string_view mangled);

}  // namespace firetower::symbolizer
