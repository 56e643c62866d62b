// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "profile/codec/gzip.h"
#include "profile/times/sample_times.h"

namespace firetower::profile {
namespace {

// The input is what the gzip file holds: mutations behind its checksum would never be read.
void TryFile(std::string_view raw) {
  constexpr uint32_t kSamples = 1000;
  const auto times = DecodeSampleTimes(GzipCompress(raw, 1), kSamples);
  if (!times) return;
  int64_t last = 0;
  for (const SampleTimes::Taken& taken : times->taken()) {
    CHECK(taken.sample < kSamples);
    CHECK(times->SlotOf(taken) >= last);
    last = times->SlotOf(taken);
  }
  const auto again = DecodeSampleTimes(EncodeSampleTimes(*times), kSamples);
  CHECK(again && again->size() == times->size());
  for (size_t i = 0; i < times->size(); ++i) {
    CHECK(again->taken()[i].sample == times->taken()[i].sample);
    CHECK(again->SlotOf(again->taken()[i]) == times->SlotOf(times->taken()[i]));
  }
}

}  // namespace
}  // namespace firetower::profile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::profile::TryFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
