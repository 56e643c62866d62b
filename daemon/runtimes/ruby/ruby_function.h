// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "daemon/runtimes/python_function.h"

namespace firetower::daemon {

// Versions of Ruby are told from those of CPython by their size.
inline constexpr uint16_t kFirstRuby = 200;

// Takes a record of a method of Ruby's apart: its name is its label, "block in total". kCorrupt:
// the record is shorter than it says, or has no name. A text that did not fit ends with "…".
Result<ReadFunction> ReadRubyRecord(std::span<const std::byte> record);

// Returns the source line of an instruction; the method's own line where the table, struct
// ft_ruby_lines, does not reach it. `version` is major * 100 + minor.
uint32_t LineOfRuby(uint16_t version, std::string_view lines, uint32_t first_line,
                    uint32_t position);

}  // namespace firetower::daemon
