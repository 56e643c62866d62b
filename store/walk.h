// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/key.h"
#include "store/store.h"

namespace firetower::store {

enum class ObjectKind : uint8_t {
  kBundle = 1,  // of a window
  kRollUp = 2,  // a bundle of several
  kCapture = 4,
  kCatalog = 8,  // of either part
};
inline constexpr unsigned kProfileKinds =
    static_cast<unsigned>(ObjectKind::kBundle) | static_cast<unsigned>(ObjectKind::kCapture);
inline constexpr unsigned kAllKinds = 15;

// An object whose key is ours, with the facts in the key.
struct StoredObject {
  std::string key = {};
  uint64_t size = 0;
  RetentionClass retention = RetentionClass::kStandard;
  ObjectKind kind = ObjectKind::kBundle;
  int64_t start_s = 0;
  int64_t seconds = 0;
};

// A class and cluster with objects in the store.
struct StoredCluster {
  RetentionClass retention = RetentionClass::kStandard;
  std::string cluster = {};
  std::optional<std::vector<std::string>> folders = {};  // unset: not known

  bool MayHold(std::string_view folder) const;
};

// Filters captures, as far as their keys allow; empty: all.
struct CaptureFilter {
  std::string namespace_component = {};
  std::string pod_component = {};
  std::string container_component = {};
  std::vector<std::string> types = {};  // one of these, as keys may spell it

  bool Takes(const CaptureKey& key) const;
};

struct WalkRange {
  // Windows that may overlap [from_s, to_s).
  int64_t from_s = 0;
  int64_t to_s = std::numeric_limits<int64_t>::max();
  CaptureFilter captures = {};
  std::optional<std::string> cluster = {};  // its key component; unset: of all clusters
  // What ListClusters said of that; unset: it is asked.
  std::optional<std::vector<StoredCluster>> clusters = {};
  unsigned kinds = kProfileKinds;                // a sum of ObjectKinds
  std::optional<RetentionClass> retention = {};  // unset: of all classes
};

// Calls `visit` for every object of the range, each class and cluster in time order (captures: per
// pod, in one listing of all pods that may match), one page of the listing at a time; stops at the
// first error. Ignores objects with foreign names.
Status WalkObjects(const ObjectStore& store, const WalkRange& range,
                   const std::function<Status(const StoredObject& object)>& visit);

// Lists the clusters of a store. With `cluster` it lists nothing and returns only that one's
// folders.
Result<std::vector<StoredCluster>> ListClusters(const ObjectStore& store,
                                                const std::optional<std::string>& cluster = {});

// Calls `visit` for every bundle below BundlePrefix or RollUpPrefix that starts in [from_s, to_s),
// in time order, until it returns false.
Status WalkBundles(
    const ObjectStore& store, const std::string& prefix, int64_t from_s, int64_t to_s,
    const std::function<Result<bool>(const ObjectInfo& info, const BundleKey& key)>& visit);

}  // namespace firetower::store
