// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower::symbolizer {

// An Itanium C++ name ("_Z…", clones such as "_Z3foov.cold" too). Nothing when it is none or its
// demangled form would exceed kMaxDemangledBytes.
std::optional<std::string> DemangleCpp(std::string_view mangled);

}  // namespace firetower::symbolizer
