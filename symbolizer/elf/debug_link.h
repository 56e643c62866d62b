// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

// A stripped file's reference to the file that has its symbols.
struct DebugLink {
  std::string file_name;  // a name, never a path
  uint32_t crc32 = 0;     // of that file's bytes
};

// Parses a .gnu_debuglink section (GDB manual, "Separate Debug Files"): a name and its NUL, padding
// to 4, the CRC. Returns nothing for other bytes, or when the name leads to another folder.
std::optional<DebugLink> ParseDebugLink(std::span<const std::byte> section);

// Computes the CRC of all bytes. Fails with kExhausted when there are more than `max_bytes`.
Result<uint32_t> Crc32(const RandomAccess& source, uint64_t max_bytes);

}  // namespace firetower::symbolizer
