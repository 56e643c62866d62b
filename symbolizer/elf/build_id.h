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

// Longest build id taken; SHA-1 has 20 bytes, the kernel passes on no more than 20.
inline constexpr size_t kMaxBuildIdBytes = 64;

// The GNU build id of an ELF file (PT_NOTE, else note sections), as lower-case hex.
// kNotFound when it has none.
Result<std::string> ReadBuildId(const RandomAccess& source);

// The same from the bytes of a note segment or section, e.g. /sys/kernel/notes. `align` is the
// segment's alignment: 8 pads to 8, everything else to 4 (gABI notes as Linux writes them).
std::optional<std::string> FindBuildIdNote(std::span<const std::byte> notes, uint64_t align = 4);

// Lower-case hex of a raw build id, the cache key and the spelling in profiles.
std::string BuildIdHex(std::span<const uint8_t> raw);

}  // namespace firetower::symbolizer
