// SPDX-License-Identifier: Apache-2.0
// How much of a function's name a flame graph shows.
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

// "full", "short" or "bare"; kInvalid says so.
Result<NameDetail> ParseNameDetail(std::string_view text);

// `std::vector<int>::at(unsigned long) const` is `std::vector<int>::at` at kShort and
// `std::vector::at` at kBare. A name that is no demangled C++, Rust or Go name, or whose brackets
// do not match, stays as it is; the result is never empty unless `name` is. Linear in its length.
std::string SimplifyName(std::string_view name, NameDetail detail);

}  // namespace firetower::profile
