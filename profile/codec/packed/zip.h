// SPDX-License-Identifier: Apache-2.0
// Reads ZIP files, PKWARE's APPNOTE.TXT 6.3, as far as profiles need it: one part, no ZIP64,
// entries that are stored or deflated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::profile {

bool IsZip(std::string_view bytes);

struct ZipEntry {
  std::string_view name = {};  // into the file
  uint32_t method = 0;
  uint32_t flags = 0;
  uint32_t crc32 = 0;
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  uint64_t header_offset = 0;
  uint64_t end_offset = 0;  // the data lie before it
};

// Returns the files in a ZIP in the order of its directory, without folders. kUnsupported: ZIP64,
// or several parts. kCorrupt: the directory is cut off, or entries overlap.
Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view zip);

// Unpacks one file and verifies its checksum. kExhausted: more than `max_bytes`. kUnsupported:
// encrypted, or another compression.
Result<std::string> ReadZipEntry(std::string_view zip, const ZipEntry& entry, size_t max_bytes);

}  // namespace firetower::profile
