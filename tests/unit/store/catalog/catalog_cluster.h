// SPDX-License-Identifier: Apache-2.0
// A small cluster's bundles in memory, and the rows that questions should find.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "profile/export.h"
#include "store/catalog/catalog_index.h"
#include "store/query.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::testing {

inline constexpr int64_t kHour = 1'763'701'200;  // 2025-11-21 05:00:00 UTC

// A store that is away from some write on, as for a process that was killed in it, and that counts
// what is read.
class MortalStore : public MemoryStore {
 public:
  Status Put(std::string_view key, std::string_view bytes) override {
    if (!TakeWrite()) return Dead();
    return MemoryStore::Put(key, bytes);
  }
  Status Delete(std::string_view key) override {
    if (!TakeWrite()) return Dead();
    return MemoryStore::Delete(key);
  }
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override {
    {
      const std::lock_guard lock(read_mutex_);
      read.insert(std::string(key));
    }
    ++reads;
    read_bytes += length;
    return MemoryStore::GetRange(key, offset, length);
  }

  Result<std::vector<store::ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                              size_t limit) const override {
    ++lists;
    if (refuse_lists_of && prefix.find(*refuse_lists_of) != std::string_view::npos)
      return Error(ErrorCode::kUnavailable, "not now");
    return MemoryStore::List(prefix, start_after, limit);
  }

  std::optional<int> writes_left;              // unset: for ever
  std::optional<std::string> refuse_lists_of;  // a part of their prefix
  mutable std::set<std::string> read;
  mutable std::atomic<int> reads = 0;
  mutable int lists = 0;
  mutable std::atomic<uint64_t> read_bytes = 0;

 private:
  mutable std::mutex read_mutex_;  // of `read`: several threads read at once

  static Status Dead() { return Error(ErrorCode::kUnavailable, "killed"); }
  bool TakeWrite() {
    if (writes_left && *writes_left == 0) return false;
    if (writes_left) --*writes_left;
    return true;
  }
};

inline store::BundleKey KeyOf(const std::string& node, int64_t start_s, int64_t seconds = 60) {
  return {.cluster = "home",
          .start_s = start_s,
          .seconds = seconds,
          .node = node,
          .run = "abcd1234",
          .rolled_up = seconds > 60};
}

// Three containers of two workloads on each node: shop/cart's web and sidecar, infra/db's db.
inline std::vector<store::CatalogRow> RowsOf(const std::string& node, int64_t start_s,
                                             int64_t seconds = 60) {
  std::vector<store::CatalogRow> rows;
  const auto add = [&](const char* space, const char* workload, const char* container,
                       int64_t samples) {
    store::CatalogRow row = Row(space, fmt::format("{}-{}", workload, node), container, start_s,
                                samples * seconds / 60);
    row.workload = workload;
    row.node = node;
    row.duration_ns = seconds * kSecondNs;
    rows.push_back(row);
  };
  add("shop", "cart", "web", 10);
  add("shop", "cart", "sidecar", 2);
  add("infra", "db", "db", 5);
  return rows;
}

// Returns the bundle's key.
inline std::string PutBundle(store::ObjectStore& store, const std::string& node, int64_t start_s,
                             int64_t seconds = 60) {
  std::string key = *store::BuildKey(KeyOf(node, start_s, seconds));
  CHECK(store.Put(key, BundleOf(RowsOf(node, start_s, seconds))));
  return key;
}

// A bundle of each of two nodes for each minute of [from_s, to_s).
inline void PutWindows(store::ObjectStore& store, int64_t from_s, int64_t to_s) {
  for (int64_t at = from_s; at < to_s; at += 60) {
    for (const char* node : {"node-1", "node-2"}) PutBundle(store, node, at);
  }
}

inline store::Query Ask(std::string_view selector, int64_t from_s, int64_t to_s) {
  return {.selector = *profile::Selector::Parse(selector),
          .from_ns = from_s * kSecondNs,
          .to_ns = to_s * kSecondNs};
}

// "<start since kHour> <pod>/<container>" of each row, sorted; what went wrong as text.
inline std::vector<std::string> RowsFound(const store::ProfileSource& source,
                                          const store::Query& query) {
  const auto list = store::ListProfiles(source, query);
  if (!list) return {list.error().message()};
  std::vector<std::string> rows;
  for (const store::CatalogRow& row : list->rows) {
    rows.push_back(
        fmt::format("{} {}/{}", row.start_ns / kSecondNs - kHour, row.pod, row.container));
  }
  for (const store::Skipped& one : list->skipped.items) rows.push_back("skipped " + one.key);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Folds the merged profiles as pprof would; an error as its text.
inline std::string FoldedOf(const store::ProfileSource& source, const store::Query& query) {
  const auto merged = store::MergeProfiles(source, query);
  return merged ? profile::ToFolded(merged->profile, 0) : merged.error().message();
}

// Keys of catalogs, without their hashes and what is before the time: "1763701200-300/0of1".
inline std::vector<std::string> CatalogsIn(const MemoryStore& store) {
  std::vector<std::string> names;
  for (const auto& [key, bytes] : store.objects) {
    if (!store::ParseCatalogKey(key)) continue;
    const size_t folder = key.rfind('/', key.rfind('/') - 1);
    names.push_back(key.substr(folder + 1, key.rfind('-') - folder - 1));
  }
  return names;
}

inline size_t CountOf(const MemoryStore& store, const std::string& ending) {
  size_t count = 0;
  for (const std::string& name : CatalogsIn(store)) count += name.ends_with(ending) ? 1 : 0;
  return count;
}

}  // namespace firetower::testing
