// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "profile/export.h"
#include "profile/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto profile = firetower::profile::DecodeSpeedscope(text, {.max_entries = 10'000});
  if (!profile) return 0;
  auto written = firetower::profile::EncodeSpeedscope(*profile);
  if (!written) return 0;  // negative weights
  auto again = firetower::profile::DecodeSpeedscope(*written);
  if (!again) {
    // Stacks that only labels told apart pass 2^63 together.
    CHECK(again.error().code() == firetower::ErrorCode::kExhausted);
    return 0;
  }
  CHECK(again->sample_types() == profile->sample_types());
  for (uint32_t value = 0; value < profile->sample_types().size(); ++value) {
    CHECK(firetower::profile::ToFolded(*again, value) ==
          firetower::profile::ToFolded(*profile, value));
  }
  return 0;
}
