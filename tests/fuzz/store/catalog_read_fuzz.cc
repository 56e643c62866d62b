// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/catalog/catalog_file.h"

namespace firetower::store {
namespace {

void TryCatalog(std::string_view bytes) {
  const RangeReader read = [bytes](uint64_t offset, uint64_t length) -> Result<std::string> {
    // The reader never asks for what is not there.
    CHECK(offset <= bytes.size() && length <= bytes.size() - offset);
    return std::string(bytes.substr(offset, length));
  };
  const Result<CatalogFile> file = CatalogFile::Open(bytes.size(), read);
  if (!file) return;
  const auto visit = [](const CatalogEntry& one) {
    // The code that reads the bundle relies on these.
    CHECK(one.entry.header_offset <= one.entry.end_offset);
    CHECK(one.entry.size <= one.entry.end_offset - one.entry.header_offset);
    // An entry that was read can be written, and is then the same.
    std::string line = CatalogLineOf(one);
    line.pop_back();
    const Result<CatalogEntry> again = CatalogLineParser().Parse(line);
    CHECK(again && again->bundle == one.bundle && again->entry.row.value == one.entry.row.value);
    return OkStatus();
  };
  (void)file->Read({}, read, visit);
  (void)file->Read({.namespace_name = "shop", .workload = "cart"}, read, visit);
  (void)file->Read({.pod = "cart-1"}, read, visit);
}

}  // namespace
}  // namespace firetower::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  firetower::store::TryCatalog(bytes);
  // Most of what a fuzzer makes has no checksums that are right: lines are tried by themselves.
  (void)firetower::store::CatalogLineParser().Parse(bytes);
  return 0;
}
