// SPDX-License-Identifier: Apache-2.0
// A program's table of options, as text.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "service/options/option.h"

namespace firetower::service {

inline constexpr size_t kUnbroken = std::numeric_limits<size_t>::max();

// Returns each option with its help, what is allowed and its default, below the heading of its
// group, in lines of at most `width`. The options are bound to the defaults, here and below.
std::string OptionsHelp(std::span<const Option> options, size_t width);

// Returns the row "| `--name VALUE` | `default` | allowed | help |" of a Markdown table.
std::string MarkdownRow(const Option& option);

}  // namespace firetower::service
