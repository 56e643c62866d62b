// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "profile/import.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

void TryFile(std::string_view bytes) {
  const auto profile = DecodeGperftools(bytes, {.max_entries = 10'000});
  if (!profile) return;
  const auto again = DecodePprof(EncodePprof(*profile));
  CHECK(again);
  for (uint32_t value = 0; value < 2; ++value) {
    CHECK(again->Total(value) == profile->Total(value));
  }
}

}  // namespace
}  // namespace firetower::profile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::profile::TryFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
