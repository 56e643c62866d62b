// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "profile/codec/pprof/sample_order.h"
#include "profile/export.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "profile/select/prune.h"
#include "profile/top/top.h"

namespace firetower::profile {
namespace {

// Tells whether a profile and the one that was read back are the same: equal tables, and samples in
// the written order.
bool AreSame(const Profile& written, const Profile& read) {
  const std::vector<uint32_t> order = SampleOrder(written);
  if (read.sample_count() != order.size() || read.meta() != written.meta()) return false;
  for (uint32_t i = 0; i < order.size(); ++i) {
    const Sample from = written.sample(order[i]), to = read.sample(i);
    const auto same_label = [&](const Label& a, const Label& b) {
      return written.string(a.key) == read.string(b.key) && a.number == b.number &&
             written.string(a.string_value) == read.string(b.string_value) &&
             written.string(a.unit) == read.string(b.unit) && a.is_number == b.is_number;
    };
    if (!std::ranges::equal(from.locations, to.locations) ||
        !std::ranges::equal(from.values, to.values) ||
        !std::ranges::equal(from.labels, to.labels, same_label)) {
      return false;
    }
  }
  return true;
}

void TryProfile(std::string_view bytes) {
  auto profile = DecodePprof(bytes, {.max_inflated_bytes = 1 << 20, .max_entries = 10'000});
  if (!profile) return;
  // An accepted profile can be written and read again, and is then the same.
  auto again = DecodePprof(EncodePprof(*profile, {.gzip = false}));
  CHECK(again);
  CHECK(AreSame(*profile, *again));
  auto third = DecodePprof(EncodePprof(*again, {.gzip = false}));
  CHECK(third);
  CHECK(ToJson(*third) == ToJson(*again));
  for (uint32_t value = 0; value < profile->sample_types().size(); ++value) {
    CHECK(Top(*profile, value).total == profile->Total(value));
    (void)ToFolded(*profile, value, {.mark_kernel = true});
  }
  if (const auto pruned = PruneFrames(*profile)) {
    for (uint32_t value = 0; value < profile->sample_types().size(); ++value)
      CHECK(pruned->profile.Total(value) == profile->Total(value));
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
