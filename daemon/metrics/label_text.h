// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::daemon {

inline constexpr size_t kMaxFunctionLabelBytes = 120;

// The `function` label of a demangled name: without template arguments (one function, one series,
// however often it is instantiated), at most kMaxFunctionLabelBytes of valid UTF-8; a cut name ends
// in '~' and eight hex digits of a hash of the whole. A name whose brackets do not pair stays
// whole.
std::string FunctionLabel(std::string_view demangled);

// Appends `value` as the inside of a quoted label value, with the three escapes that both
// exposition formats know (backslash, quote, newline). Bytes that are not UTF-8 become U+FFFD.
void AppendLabelValue(std::string& out, std::string_view value);

}  // namespace firetower::daemon
