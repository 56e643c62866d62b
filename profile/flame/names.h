// SPDX-License-Identifier: Apache-2.0
// Simplifies the names of functions for flame graphs.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

enum class NameDetail {
  kFull,   // as it stands in the profile
  kShort,  // without parameter lists, return types and what the compiler appended
  kBare,   // without template arguments too
};

// Parses "full", "short" or "bare"; anything else is kInvalid.
Result<NameDetail> ParseNameDetail(std::string_view text);

// Simplifies a name: `std::vector<int>::at(unsigned long) const` becomes `std::vector<int>::at` at
// kShort and `std::vector::at` at kBare. A name that is no demangled C++, Rust or Go name, or whose
// brackets do not match, stays unchanged. The result is empty only if `name` is. Linear in its
// length.
std::string SimplifyName(std::string_view name, NameDetail detail);

}  // namespace firetower::profile
