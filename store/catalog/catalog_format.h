// SPDX-License-Identifier: Apache-2.0
// The end of a catalog's file: an empty gzip member whose header has, in an extra field "FC" (RFC
// 1952 §2.3.1.1), the offset of the member with the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::store {

inline constexpr std::string_view kCatalogFormat = "firetower-catalog-1";

inline constexpr size_t kLocatorBytes = 34;
std::string CatalogLocator(uint64_t index_offset);
// Parses the last kLocatorBytes of a file. kCorrupt: they are not a locator.
Result<uint64_t> ReadCatalogLocator(std::string_view bytes);

}  // namespace firetower::store
