// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/directory_reader.h"

#include <utility>

namespace firetower::store {

DirectoryReader::Directory DirectoryReader::Take() {
  Read first = reads_.Take();
  if (first.too_large)
    first.index = ReadBundleIndex(first.bundle.size, [&](uint64_t offset, uint64_t length) {
      return store_.GetRange(first.bundle.key, offset, length);
    });
  return {.bundle = std::move(first.bundle), .index = std::move(first.index)};
}

void DirectoryReader::ReadOne(Read& read) const {
  read.index = ReadBundleIndex(
      read.bundle.size, [&](uint64_t offset, uint64_t length) -> Result<std::string> {
        read.too_large = length > kMaxRangeBytes;
        if (read.too_large) return Error(ErrorCode::kExhausted, "too large for one of several");
        return store_.GetRange(read.bundle.key, offset, length);
      });
}

}  // namespace firetower::store
