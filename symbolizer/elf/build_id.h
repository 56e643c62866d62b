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

// The longest accepted build id. SHA-1 has 20 bytes, and the kernel reports at most 20.
inline constexpr size_t kMaxBuildIdBytes = 64;

// Reads the GNU build id of an ELF file (PT_NOTE, else note sections) as lower-case hex. kNotFound:
// it has none.
Result<std::string> ReadBuildId(const RandomAccess& source);

// Finds the build id in the bytes of a note segment or section, such as /sys/kernel/notes. `align`
// is the segment's alignment: 8 pads to 8, everything else to 4 (gABI notes as Linux writes them).
std::optional<std::string> FindBuildIdNote(std::span<const std::byte> notes, uint64_t align = 4);

// Returns a raw build id as lower-case hex, the form of cache keys and profiles.
std::string BuildIdHex(std::span<const uint8_t> raw);

}  // namespace firetower::symbolizer
