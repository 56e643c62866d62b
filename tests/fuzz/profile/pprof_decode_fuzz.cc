// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "profile/export.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "profile/top.h"

namespace firetower::profile {
namespace {

void TryProfile(std::string_view bytes) {
  auto profile = DecodePprof(bytes, {.max_inflated_bytes = 1 << 20, .max_entries = 10'000});
  if (!profile) return;
  // What was accepted can be written, read again, and is then the same.
  auto again = DecodePprof(EncodePprof(*profile, {.gzip = false}));
  CHECK(again);
  CHECK(ToJson(*again) == ToJson(*profile));
  for (uint32_t value = 0; value < profile->sample_types().size(); ++value) {
    CHECK(Top(*profile, value).total == profile->Total(value));
    (void)ToFolded(*profile, value, {.mark_kernel = true});
  }
  Merger merger;
  CHECK(merger.Add(*profile));
  CHECK(merger.Add(*again));
  (void)std::move(merger).Finish();
}

}  // namespace
}  // namespace firetower::profile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::profile::TryProfile({reinterpret_cast<const char*>(data), size});
  return 0;
}
