// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "profile/export.h"
#include "profile/import.h"
#include "profile/pprof.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto timed = firetower::profile::DecodePerfScript(text, {}, {.max_entries = 10'000});
  auto untimed =
      firetower::profile::DecodePerfScript(text, {.times = false}, {.max_entries = 10'000});
  if (!timed) return 0;
  if (!untimed) {
    CHECK(untimed.error().code() == firetower::ErrorCode::kExhausted);  // sums that pass 2^63
    return 0;
  }
  CHECK(untimed->sample_types() == timed->sample_types());
  CHECK(firetower::profile::DecodePprof(firetower::profile::EncodePprof(*timed)));
  // Time stamps change how samples are told apart, and nothing else.
  for (uint32_t value = 0; value < timed->sample_types().size(); ++value) {
    CHECK(firetower::profile::ToFolded(*timed, value) ==
          firetower::profile::ToFolded(*untimed, value));
  }
  return 0;
}
