// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/key.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace store = firetower::store;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // A key that parses is the one that would be built, and any store takes it.
  if (auto key = store::ParseBundleKey(text)) {
    CHECK(*store::BuildKey(*key) == text);
    CHECK(store::CheckKey(text));
  }
  if (auto key = store::ParseCaptureKey(text)) {
    CHECK(*store::BuildKey(*key) == text);
    CHECK(store::CheckKey(text));
  }
  if (auto key = store::ParseCatalogKey(text)) {
    CHECK(*store::BuildKey(*key) == text);
    CHECK(store::CheckKey(text));
  }
  store::BundleKey made{.cluster = "c", .node = store::ToKeyComponent(text), .run = "00000000"};
  CHECK(store::BuildKey(made));
  return 0;
}
