// SPDX-License-Identifier: Apache-2.0
// Zstandard data, RFC 8878.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Frames, and those that a decoder skips.
bool IsZstd(std::string_view bytes);

// All frames of `bytes`, checksums verified where there are some. kExhausted above `max_bytes` and
// where a window of more than 128 MiB is asked for; kCorrupt for anything that is not zstd to its
// end.
Result<std::string> ZstdDecompress(std::string_view bytes, size_t max_bytes);

}  // namespace firetower::profile
