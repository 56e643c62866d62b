// SPDX-License-Identifier: Apache-2.0
// Rows, bundles and a store in a scratch folder.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "profile/pprof.h"
#include "profile/type.h"
#include "store/bundle.h"
#include "store/dir_store.h"
#include "store/key.h"
#include "store/query.h"
#include "tests/support/command.h"
#include "tests/support/sample_profiles.h"

namespace firetower::testing {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kFirstWindow = 1'763'700'000;  // 2025-11-21 04:40:00 UTC

inline store::CatalogRow Row(const std::string& name_space, const std::string& pod,
                             const std::string& container, int64_t start_s, int64_t samples = 10) {
  store::CatalogRow row;
  row.namespace_name = name_space;
  row.pod = pod;
  row.container = container;
  row.pod_uid = "uid-" + pod;
  row.container_id = "cid-" + container;
  row.workload = pod + "-workload";
  row.node = "node-1";
  row.type = "cpu";
  row.start_ns = start_s * kSecondNs;
  row.duration_ns = 60 * kSecondNs;
  row.samples = samples;
  row.value = samples * 10'000'000;
  row.unit = "nanoseconds";
  return row;
}

// Makes a profile with the samples of the row, in one stack main;<container>.
inline profile::Profile ProfileOf(const store::CatalogRow& row) {
  return StackBuilder(row.start_ns).Add({"main", row.container}, row.samples).Build();
}

// A profile of memory that is not stored yet: a window of a container, with so much in use.
inline store::OpenProfile InUseAt(const std::string& container, int64_t window, int64_t in_use) {
  store::OpenProfile open;
  open.row = Row("shop", container + "-1", container, kFirstWindow + 60 * window, 1);
  open.row.type = "memory";
  profile::Meta meta;
  meta.sample_types = profile::ParseProfileType("memory")->SampleTypes();
  profile::ProfileBuilder builder(meta);
  const profile::Line line{.function = builder.AddFunction(container, container, "")};
  const uint32_t leaf = builder.AddLocation(profile::kNoMapping, 0, {&line, 1});
  const int64_t values[] = {1, 1000, in_use / 100, in_use};
  builder.AddSample({&leaf, 1}, values);
  open.profile = std::make_shared<profile::Profile>(std::move(builder).Build());
  return open;
}

inline std::string BundleOf(const std::vector<store::CatalogRow>& rows) {
  store::BundleWriter writer(rows.empty() ? 0 : rows.front().start_ns);
  for (const auto& row : rows) CHECK(writer.Add(row, profile::EncodePprof(ProfileOf(row))));
  return *std::move(writer).Finish();
}

inline std::string BundleKeyAt(int64_t start_s, const std::string& run = "abcd1234",
                               store::RetentionClass retention = store::RetentionClass::kStandard) {
  return *store::BuildKey(store::BundleKey{.retention = retention,
                                           .cluster = "home",
                                           .start_s = start_s,
                                           .seconds = 60,
                                           .node = "node-1",
                                           .run = run});
}

class StoreFolder {
 public:
  StoreFolder() : store_(*store::DirStore::Open(folder_.path() + "/store")) {}
  store::DirStore& store() { return *store_; }
  std::string PathOf(const std::string& key) const { return store_->root() + "/" + key; }
  // Stores a bundle of these rows, all of one window; returns its key.
  std::string PutBundle(const std::vector<store::CatalogRow>& rows) {
    std::string key = BundleKeyAt(rows.at(0).start_ns / kSecondNs);
    CHECK(store_->Put(key, BundleOf(rows)));
    return key;
  }

 private:
  ScratchFolder folder_;
  std::unique_ptr<store::DirStore> store_;
};

}  // namespace firetower::testing
