// SPDX-License-Identifier: Apache-2.0
// Reads Zstandard data, RFC 8878.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Recognises frames, also skippable ones.
bool IsZstd(std::string_view bytes);

// Decompresses all frames of `bytes` and verifies their checksums, if any. kExhausted: more than
// `max_bytes`, or a window of more than 128 MiB. kCorrupt: some part is not zstd.
Result<std::string> ZstdDecompress(std::string_view bytes, size_t max_bytes);

}  // namespace firetower::profile
