// SPDX-License-Identifier: Apache-2.0
#include "store/spool/spooled_object.h"

#include <fmt/core.h>

#include "store/bundle.h"
#include "store/capture.h"
#include "store/key.h"

namespace firetower::store {
namespace {

Error Damaged(const Error& error) {
  return {ErrorCode::kCorrupt, "damaged on this disk, and deleted: " + error.message()};
}

}  // namespace

Status CheckSpooled(std::string_view key, std::string_view bytes) {
  // Whatever else the name says: only bundles are called so.
  if (key.ends_with(".zip")) {
    const Result<BundleIndex> index = ReadBundleIndex(bytes.size(), ReaderOf(bytes));
    if (!index) return Damaged(index.error());
  } else if (ParseCaptureKey(key)) {
    const Result<CatalogRow> row = ReadCaptureRow(bytes);
    if (!row) return Damaged(row.error());
  }
  return OkStatus();
}

}  // namespace firetower::store
