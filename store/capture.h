// SPDX-License-Identifier: Apache-2.0
// A capture: a single .pb.gz object. Its catalog row is in the gzip header as an extra subfield
// "FT" (RFC 1952 §2.3.1.1), so that every pprof reader opens the file, and a listing needs one
// short ranged read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/catalog.h"
#include "store/store.h"

namespace firetower::store {

// Encodes a capture. kInvalid: `pprof_gz` is not a gzip member without header fields (as
// EncodePprof makes it).
Result<std::string> EncodeCapture(const CatalogRow& row, std::string_view pprof_gz);
// Reads the row from the first bytes of a capture.
Result<CatalogRow> ReadCaptureRow(std::string_view head);
// Reads the row of an object of `size` bytes, with one ranged read of at most 64 KiB.
Result<CatalogRow> ReadCaptureRow(const ObjectStore& store, std::string_view key, uint64_t size);

}  // namespace firetower::store
