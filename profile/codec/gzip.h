// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

bool IsGzip(std::string_view bytes);

// One gzip member without name or time, of level 1 (fast) to 12: the same input gives the same
// bytes. What is large or in a hurry is for codec/gzip_writer.h.
std::string GzipCompress(std::string_view bytes, int level);

// All members of `bytes`, checksums verified. kExhausted above `max_bytes`, whatever the input
// claims; kCorrupt for anything that is not gzip to its end.
Result<std::string> GzipDecompress(std::string_view bytes, size_t max_bytes);
// The same into `out`, whatever it held; its room is used again. After an error it holds nothing of
// worth.
Status GzipDecompress(std::string_view bytes, size_t max_bytes, std::string* out);

}  // namespace firetower::profile
