// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firetower::symbolizer {

// The common forms of Itanium C++ names, letter by letter as libiberty writes them, in a tenth of
// its time: one pass, no tree. Nothing for all other forms (expressions, pointers to members,
// generic lambdas, what is local to templates) and for what is no such name.
std::optional<std::string> DemangleCommonCpp(std::string_view mangled);

}  // namespace firetower::symbolizer
