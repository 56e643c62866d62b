// SPDX-License-Identifier: Apache-2.0
// A store that several clusters share, and that notes what is asked of it.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/capture.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::testing {

class SharedStore : public MemoryStore {
 public:
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override {
    Note(key);
    return MemoryStore::Get(key, max_bytes);
  }
  Result<std::vector<store::ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                              size_t limit) const override {
    Note(prefix);
    return MemoryStore::List(prefix, start_after, limit);
  }
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    Note(prefix);
    return MemoryStore::ListFolders(prefix);
  }
  Status Delete(std::string_view key) override {
    Note(key);
    return MemoryStore::Delete(key);
  }

  // Returns the requests for keys that are not below that cluster's folders.
  std::vector<std::string> AskedBeside(const std::string& cluster) const {
    std::vector<std::string> beside;
    for (const std::string& one : asked) {
      bool is_below = false;
      for (const store::RetentionClass retention : store::kRetentionClasses) {
        const std::string name(store::RetentionClassName(retention));
        is_below = is_below || one.starts_with("v1/" + name + "/" + cluster + "/");
      }
      if (!is_below) beside.push_back(one);
    }
    return beside;
  }
  std::vector<std::string> KeysOf(const std::string& cluster) const {
    std::vector<std::string> keys;
    for (const auto& [key, bytes] : objects) {
      if (key.find("/" + cluster + "/") != std::string::npos) keys.push_back(key);
    }
    return keys;
  }
  // A window of these rows, and a capture of the first; every cluster has the same.
  void PutProfiles(const std::string& cluster, const std::vector<store::CatalogRow>& rows);

  mutable std::set<std::string> asked;  // keys, and prefixes of listings

 private:
  void Note(std::string_view what) const {
    const std::lock_guard lock(asked_mutex_);
    asked.insert(std::string(what));
  }

  mutable std::mutex asked_mutex_;  // of `asked`: several threads ask at once
};

inline void SharedStore::PutProfiles(const std::string& cluster,
                                     const std::vector<store::CatalogRow>& rows) {
  const int64_t start_s = rows.at(0).start_ns / kSecondNs;
  const auto window = store::BuildKey(store::BundleKey{
      .cluster = cluster, .start_s = start_s, .seconds = 60, .node = "node-1", .run = "abcd1234"});
  CHECK(Put(*window, BundleOf(rows)));
  store::CatalogRow row = rows.at(0);
  row.capture = "c-" + cluster;
  const auto capture = store::BuildKey(store::CaptureKey{.cluster = cluster,
                                                         .namespace_name = row.namespace_name,
                                                         .pod = row.pod,
                                                         .start_s = start_s,
                                                         .seconds = 60,
                                                         .container = row.container,
                                                         .type = "cpu",
                                                         .id = store::ProfileId(row)});
  CHECK(Put(*capture, *store::EncodeCapture(row, profile::EncodePprof(ProfileOf(row)))));
}

}  // namespace firetower::testing
