// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_format.h"

namespace firetower::store {
namespace {

// RFC 1952: the fixed header with FEXTRA, an extra field of one subfield of eight bytes, an empty
// deflate block, CRC-32 and length of nothing.
constexpr std::string_view kHead("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0c\0FC\x08\0", 16);
constexpr std::string_view kTail("\x03\0\0\0\0\0\0\0\0\0", 10);
static_assert(kHead.size() + 8 + kTail.size() == kLocatorBytes);

}  // namespace

std::string CatalogLocator(uint64_t index_offset) {
  std::string bytes(kHead);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(index_offset >> (8 * i));
  return bytes.append(kTail);
}

Result<uint64_t> ReadCatalogLocator(std::string_view bytes) {
  if (bytes.size() != kLocatorBytes || !bytes.starts_with(kHead) || !bytes.ends_with(kTail)) {
    return Error(ErrorCode::kCorrupt,
                 "catalog: truncated, or not a catalog: it does not end in where its index is");
  }
  uint64_t offset = 0;
  for (size_t i = 0; i < 8; ++i) {
    offset |= uint64_t{static_cast<unsigned char>(bytes[kHead.size() + i])} << (8 * i);
  }
  return offset;
}

}  // namespace firetower::store
