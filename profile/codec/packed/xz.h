// SPDX-License-Identifier: Apache-2.0
// Reads xz files (tukaani.org/xz/xz-file-format.txt).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

bool IsXz(std::string_view bytes);

// Decompresses all streams of `bytes` and verifies their checks. kExhausted: more than `max_bytes`,
// or the decoder needs more memory than for `xz -9`. kCorrupt: some part is not xz.
Result<std::string> XzDecompress(std::string_view bytes, size_t max_bytes);

}  // namespace firetower::profile
