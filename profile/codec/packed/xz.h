// SPDX-License-Identifier: Apache-2.0
// Files of xz (tukaani.org/xz/xz-file-format.txt).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

bool IsXz(std::string_view bytes);

// All streams of `bytes`, checks verified. kExhausted above `max_bytes` and where the decoder needs
// more memory than `xz -9` makes it need; kCorrupt for anything that is not xz to its end.
Result<std::string> XzDecompress(std::string_view bytes, size_t max_bytes);

}  // namespace firetower::profile
