// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bpf/abi/runtime.h"
#include "daemon/runtimes/runtime_function.h"

namespace firetower::daemon {

// The version of functions whose positions are lines; 0 where none is known.
inline constexpr uint16_t kPositionIsLine = 0;

// A name and a table of lines out of a record of the kernel side. The table belongs to the record.
struct ReadFunction {
  RuntimeFunction function;
  // The version whose table it is, of CPython, or of Ruby as major * 100 + minor.
  uint16_t minor = kPositionIsLine;
  std::string_view lines;
};

// Copies a record's head; what follows it are its lines. kCorrupt: it is shorter than it says.
Status ReadRecordHead(std::span<const std::byte> record, ft_function& head);
// Returns the bytes of the lines of a record whose head was read.
std::string_view LinesOf(std::span<const std::byte> record, const ft_function& head);

// Takes a record apart whose positions are lines, and which has a class's name in place of its
// lines. `name_of` makes the function's name of it. kCorrupt: the record is shorter than it says,
// or the name is empty. A text that did not fit ends with "…".
using NameRecord = std::string (*)(const ft_function& head, std::string_view class_name,
                                   std::string_view file);
Result<ReadFunction> ReadNamedRecord(std::span<const std::byte> record, NameRecord name_of);

// Takes a record of FT_KIND_FUNCTION apart. kCorrupt: it is shorter than it says, or has no name.
// A text that did not fit ends with "…", as one does whose last characters were not resident.
Result<ReadFunction> ReadFunctionRecord(std::span<const std::byte> record);

// Returns the source line of an instruction of CPython 3.`minor`; the function's own line where the
// table does not reach it or says none. From 3.11 on `position` counts bytes from the first
// instruction (Objects/locations.md of CPython); before, it is the frame's f_lasti, and -1 where
// none has run yet (Objects/lnotab_notes.txt).
uint32_t LineOf(uint16_t minor, std::string_view lines, uint32_t first_line, uint32_t position);

}  // namespace firetower::daemon
