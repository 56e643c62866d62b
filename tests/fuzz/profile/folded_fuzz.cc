// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "profile/export.h"
#include "profile/import.h"
#include "profile/pprof.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto profile = firetower::profile::DecodeFolded(text, {.max_entries = 10'000});
  if (!profile) return 0;
  auto pprof = firetower::profile::DecodePprof(firetower::profile::EncodePprof(*profile));
  CHECK(pprof);
  for (uint32_t value = 0; value < profile->sample_types().size(); ++value) {
    const std::string folded = firetower::profile::ToFolded(*profile, value);
    CHECK(firetower::profile::ToFolded(*pprof, value) == folded);
  }
  return 0;
}
