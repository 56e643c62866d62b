// SPDX-License-Identifier: Apache-2.0
// Stored profiles of a Deployment before and after a roll-out that made it slower.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "profile/builder.h"
#include "profile/pprof.h"
#include "store/bundle.h"
#include "store/key.h"
#include "store/store.h"

namespace firetower::testing {

inline constexpr int64_t kMinuteNs = 60 * kNsPerSecond;

// Stores a minute's CPU profile of the pod shop/`pod` of `workload`, from start_ns on: Parse has
// 700 samples and Encode 300, and Slow 500 more where it is slow. The node tells bundles apart.
inline void PutMinute(store::ObjectStore& store, int64_t start_ns, const std::string& workload,
                      const std::string& pod, bool is_slow) {
  profile::ProfileBuilder builder(profile::CpuMeta(100, start_ns, kMinuteNs));
  const auto add = [&](const char* name, int64_t samples) {
    profile::Line line;
    line.function = builder.AddFunction(name, name, "");
    const uint32_t location =
        builder.AddLocation(profile::kNoMapping, 0x400000 + line.function * 16, {&line, 1});
    const int64_t values[] = {samples, samples * 10 * kNsPerMs};
    CHECK(builder.AddSample({&location, 1}, values));
  };
  add("Parse", 700);
  add("Encode", 300);
  if (is_slow) add("Slow", 500);
  const profile::Profile profile = std::move(builder).Build();
  store::CatalogRow row;
  row.namespace_name = "shop";
  row.workload = workload;
  row.pod = pod;
  row.container = "web";
  row.node = "node-of-" + pod;
  row.type = "cpu";
  row.start_ns = start_ns;
  row.duration_ns = kMinuteNs;
  row.samples = profile.Total(0);
  row.value = profile.Total(1);
  row.unit = "nanoseconds";
  store::BundleWriter bundle(start_ns);
  CHECK(bundle.Add(row, profile::EncodePprof(profile)));
  store::BundleKey key;
  key.cluster = "local";
  key.start_s = start_ns / kNsPerSecond;
  key.seconds = 60;
  key.node = row.node;
  key.run = "abcd1234";
  const auto name = store::BuildKey(key);
  const auto bytes = std::move(bundle).Finish();
  CHECK(name && bytes && store.Put(*name, *bytes));
}

// Stores the minutes of pods of revision 44b from 16 to 10 minutes before now, and from 9 to
// `until` minutes those of 55c.
inline void PutRollout(store::ObjectStore& store, int64_t now_ns, const std::string& workload,
                       bool is_slow = true, int64_t until = 4) {
  for (int64_t before = 16; before >= until; --before) {
    const bool is_new = before <= 9;
    PutMinute(store, now_ns - before * kMinuteNs, workload,
              workload + (is_new ? "-55c-ccccc" : "-44b-bbbbb"), is_new && is_slow);
  }
}

}  // namespace firetower::testing
