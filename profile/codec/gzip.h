// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

bool IsGzip(std::string_view bytes);

// One gzip member without name or time: the same input gives the same bytes.
std::string GzipCompress(std::string_view bytes, int level);

// The same of bytes that nobody needs afterwards: they are given back before the result is laid
// out.
std::string GzipCompressAndFree(std::string bytes, int level);

// All members of `bytes`, checksums verified. kExhausted above `max_bytes`, whatever the input
// claims; kCorrupt for anything that is not gzip to its end.
Result<std::string> GzipDecompress(std::string_view bytes, size_t max_bytes);

}  // namespace firetower::profile
