// SPDX-License-Identifier: Apache-2.0
#include "store/walk.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace firetower::store {
namespace {

using Visit = std::function<Status(const StoredObject& object)>;

bool InRange(const WalkRange& range, int64_t start_s, int64_t seconds) {
  // A row keeps milliseconds, the key seconds: one second of slack at each side.
  return start_s < range.to_s && start_s + seconds + 1 >= range.from_s;
}

// Each page of `prefix` behind `start_after`, until `visit` says false.
Status ForEachListed(const ObjectStore& store, const std::string& prefix, std::string start_after,
                     const std::function<Result<bool>(const ObjectInfo&)>& visit) {
  while (true) {
    ASSIGN_OR_RETURN(std::vector<ObjectInfo> page, store.List(prefix, start_after));
    for (const ObjectInfo& info : page) {
      ASSIGN_OR_RETURN(bool go_on, visit(info));
      if (!go_on) return OkStatus();
    }
    if (page.size() < ObjectStore::kMaxListed) return OkStatus();
    start_after = page.back().key;
  }
}

bool Wants(const WalkRange& range, ObjectKind kind) {
  return (range.kinds & static_cast<unsigned>(kind)) != 0;
}

Status VisitBundles(const ObjectStore& store, const std::string& prefix, const WalkRange& range,
                    const Visit& visit) {
  const int64_t first = std::max<int64_t>(range.from_s - kMaxWindowSeconds - 1, 0);
  return WalkBundles(
      store, prefix, first, range.to_s,
      [&](const ObjectInfo& info, const BundleKey& key) -> Result<bool> {
        if (!InRange(range, key.start_s, key.seconds)) return true;
        RETURN_IF_ERROR(visit({.key = info.key,
                               .size = info.size,
                               .retention = key.retention,
                               .kind = key.rolled_up ? ObjectKind::kRollUp : ObjectKind::kBundle,
                               .start_s = key.start_s,
                               .seconds = key.seconds}));
        return true;
      });
}

Status VisitRollUps(const ObjectStore& store, const StoredCluster& at, const WalkRange& range,
                    const Visit& visit) {
  const std::string folder =
      "v1/" + std::string(RetentionClassName(at.retention)) + '/' + at.cluster + '/';
  ASSIGN_OR_RETURN(const std::vector<std::string> names, store.ListFolders(folder));
  for (const std::string& name : names) {
    if (name.starts_with("rollup-"))
      RETURN_IF_ERROR(VisitBundles(store, folder + name + '/', range, visit));
  }
  return OkStatus();
}

Status VisitCatalogs(const ObjectStore& store, const StoredCluster& at, const WalkRange& range,
                     const Visit& visit) {
  const std::string prefix = CatalogPrefix(at.retention, at.cluster);
  const int64_t first = std::max<int64_t>(range.from_s - kMaxWindowSeconds - 1, 0);
  return ForEachListed(store, prefix, prefix + BundleTimePath(first),
                       [&](const ObjectInfo& info) -> Result<bool> {
                         const Result<CatalogKey> key = ParseCatalogKey(info.key);
                         if (!key) return true;
                         if (key->start_s >= range.to_s) return false;
                         RETURN_IF_ERROR(visit({.key = info.key,
                                                .size = info.size,
                                                .retention = at.retention,
                                                .kind = ObjectKind::kCatalog,
                                                .start_s = key->start_s,
                                                .seconds = key->seconds}));
                         return true;
                       });
}

// Returns the position at which a listing of captures continues behind `last`, the end of a page.
// It passes over captures before `first_date` and behind the range. Unset: the listing is complete.
std::optional<std::string> CapturesAfter(const std::string& last, const std::string& prefix,
                                         const std::string& first_date, const WalkRange& range) {
  const Result<CaptureKey> key = ParseCaptureKey(last);
  if (!key) return last;
  const std::string pod =
      CapturePrefix(key->retention, key->cluster) + key->namespace_name + '/' + key->pod;
  const bool is_of_pod =
      range.captures.pod_component.empty() || key->pod == range.captures.pod_component;
  if (key->start_s < range.to_s && is_of_pod) return std::max(last, pod + '/' + first_date);
  std::string behind = pod + static_cast<char>('/' + 1);
  // Some servers refuse what does not begin with the prefix.
  return behind.starts_with(prefix) ? std::optional(std::move(behind)) : std::nullopt;
}

// Many pods have captures, and each of them few: one listing is a page or some, one for each pod
// would be as many requests.
Status WalkCaptures(const ObjectStore& store, RetentionClass retention, const std::string& cluster,
                    const WalkRange& range, const Visit& visit) {
  const CaptureFilter& filter = range.captures;
  const int64_t first = std::max<int64_t>(range.from_s - kMaxWindowSeconds - 1, 0);
  const std::string first_date = DateOf(std::min(first, kMaxStartSeconds));
  std::string prefix = CapturePrefix(retention, cluster);
  std::optional<std::string> after = "";
  if (!filter.namespace_component.empty()) {
    prefix += filter.namespace_component + '/';
    if (!filter.pod_component.empty()) {
      prefix += filter.pod_component + '/';
      after = prefix + first_date;
    }
  }
  while (after) {
    ASSIGN_OR_RETURN(const std::vector<ObjectInfo> page, store.List(prefix, *after));
    for (const ObjectInfo& info : page) {
      const Result<CaptureKey> key = ParseCaptureKey(info.key);
      if (!key || !filter.Takes(*key) || !InRange(range, key->start_s, key->seconds)) continue;
      RETURN_IF_ERROR(visit({.key = info.key,
                             .size = info.size,
                             .retention = retention,
                             .kind = ObjectKind::kCapture,
                             .start_s = key->start_s,
                             .seconds = key->seconds}));
    }
    if (page.size() < ObjectStore::kMaxListed) break;
    after = CapturesAfter(page.back().key, prefix, first_date, range);
  }
  return OkStatus();
}

}  // namespace

bool CaptureFilter::Takes(const CaptureKey& key) const {
  const auto is_of = [](const std::string& asked, const std::string& component) {
    return asked.empty() || asked == component;
  };
  return is_of(namespace_component, key.namespace_name) && is_of(pod_component, key.pod) &&
         is_of(container_component, key.container) &&
         (types.empty() || std::ranges::find(types, key.type) != types.end());
}

bool StoredCluster::MayHold(std::string_view folder) const {
  return !folders || std::ranges::find(*folders, folder) != folders->end();
}

Result<std::vector<StoredCluster>> ListClusters(const ObjectStore& store,
                                                const std::optional<std::string>& cluster) {
  std::vector<StoredCluster> clusters;
  for (const RetentionClass retention : kRetentionClasses) {
    const std::string prefix = "v1/" + std::string(RetentionClassName(retention)) + '/';
    if (cluster) {
      ASSIGN_OR_RETURN(std::vector<std::string> folders,
                       store.ListFolders(prefix + *cluster + '/'));
      if (!folders.empty()) clusters.push_back({retention, *cluster, std::move(folders)});
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, store.ListFolders(prefix));
    for (const std::string& name : names) {
      // Somebody else may have made a folder.
      if (CheckKey(name)) clusters.push_back({retention, name});
    }
  }
  return clusters;
}

Status WalkBundles(
    const ObjectStore& store, const std::string& prefix, int64_t from_s, int64_t to_s,
    const std::function<Result<bool>(const ObjectInfo& info, const BundleKey& key)>& visit) {
  return ForEachListed(store, prefix + CommonTimePath(from_s, to_s),
                       prefix + BundleTimePath(from_s),
                       [&](const ObjectInfo& info) -> Result<bool> {
                         const Result<BundleKey> key = ParseBundleKey(info.key);
                         if (!key || key->start_s < from_s) return true;
                         // The listing is in time order.
                         if (key->start_s >= to_s) return false;
                         return visit(info, *key);
                       });
}

Status WalkObjects(const ObjectStore& store, const WalkRange& range, const Visit& visit) {
  std::vector<StoredCluster> listed;
  if (!range.clusters) {
    ASSIGN_OR_RETURN(listed, ListClusters(store, range.cluster));
  }
  for (const StoredCluster& at : range.clusters ? *range.clusters : listed) {
    if (range.retention && at.retention != *range.retention) continue;
    if (Wants(range, ObjectKind::kBundle)) {
      RETURN_IF_ERROR(VisitBundles(store, BundlePrefix(at.retention, at.cluster), range, visit));
    }
    if (Wants(range, ObjectKind::kRollUp)) RETURN_IF_ERROR(VisitRollUps(store, at, range, visit));
    if (Wants(range, ObjectKind::kCapture) && at.MayHold(kCaptureFolder))
      RETURN_IF_ERROR(WalkCaptures(store, at.retention, at.cluster, range, visit));
    if (Wants(range, ObjectKind::kCatalog)) RETURN_IF_ERROR(VisitCatalogs(store, at, range, visit));
  }
  return OkStatus();
}

}  // namespace firetower::store
