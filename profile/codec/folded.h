// SPDX-License-Identifier: Apache-2.0
// Strings that the writer and the reader of folded stacks share.
#pragma once

#include <string_view>

namespace firetower::profile {

// flamegraph.pl's annotations.
inline constexpr std::string_view kKernelSuffix = "_[k]";
inline constexpr std::string_view kInlinedSuffix = "_[i]";
// Replaces the empty stack of a sample, because a line needs some stack.
inline constexpr std::string_view kNoStack = "[no stack]";
// The kernel's mapping, for formats that say nothing more about it.
inline constexpr std::string_view kKernelMapping = "[kernel.kallsyms]";

}  // namespace firetower::profile
