// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

bool IsGzip(std::string_view bytes);

// Compresses to one gzip member without name or time, with level 1 (fast) to 12. The same input
// gives the same bytes. For large or urgent data use codec/gzip_writer.h.
std::string GzipCompress(std::string_view bytes, int level);

// Decompresses all members of `bytes` and verifies their checksums. kExhausted: more than
// `max_bytes`, whatever the input claims. kCorrupt: some part is not gzip.
Result<std::string> GzipDecompress(std::string_view bytes, size_t max_bytes);
// Decompresses into `out`, whose memory is used again. After an error its contents are undefined.
Status GzipDecompress(std::string_view bytes, size_t max_bytes, std::string* out);

}  // namespace firetower::profile
