// SPDX-License-Identifier: Apache-2.0
// The words that writer and reader of folded stacks share.
#pragma once

#include <string_view>

namespace firetower::profile {

// flamegraph.pl's annotations.
inline constexpr std::string_view kKernelSuffix = "_[k]";
inline constexpr std::string_view kInlinedSuffix = "_[i]";
// A line needs some stack, a sample may have none.
inline constexpr std::string_view kNoStack = "[no stack]";
// The name of the kernel's mapping where a format says no more than that.
inline constexpr std::string_view kKernelMapping = "[kernel.kallsyms]";

}  // namespace firetower::profile
