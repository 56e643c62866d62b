// SPDX-License-Identifier: Apache-2.0
// Bundles, and captures, whose row is read the same way.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/bundle.h"
#include "store/capture.h"

namespace firetower::store {
namespace {

void TryBundle(std::string_view bytes) {
  RangeReader read = [bytes](uint64_t offset, uint64_t length) -> Result<std::string> {
    // The reader never asks for what is not there.
    CHECK(offset <= bytes.size() && length <= bytes.size() - offset);
    return std::string(bytes.substr(offset, length));
  };
  auto index = ReadBundleIndex(bytes.size(), read);
  if (!index) return;
  for (const BundleEntry& entry : index->entries) {
    auto data = ReadBundleEntry(entry, read);
    if (data) CHECK(data->size() == entry.size);
    auto row = CatalogRowFromJson(CatalogRowToJson(entry.row));
    CHECK(row && row->start_ns == entry.row.start_ns && row->value == entry.row.value);
    CHECK(BundleEntryName(entry.row).find("/../") == std::string::npos);
  }
}

}  // namespace
}  // namespace firetower::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  firetower::store::TryBundle(bytes);
  (void)firetower::store::ReadCaptureRow(bytes);
  return 0;
}
