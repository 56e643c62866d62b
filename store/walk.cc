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

Status WalkBundles(const ObjectStore& store, RetentionClass retention, const std::string& cluster,
                   const WalkRange& range, const Visit& visit) {
  std::string prefix = BundlePrefix(retention, cluster);
  int64_t first = std::max<int64_t>(range.from_s - kMaxWindowSeconds - 1, 0);
  return ForEachListed(store, prefix, prefix + BundleTimePath(first),
                       [&](const ObjectInfo& info) -> Result<bool> {
                         Result<BundleKey> key = ParseBundleKey(info.key);
                         if (!key) return true;
                         if (key->start_s >= range.to_s)
                           return false;  // the listing is in time order
                         if (!InRange(range, key->start_s, key->seconds)) return true;
                         RETURN_IF_ERROR(visit({.key = info.key,
                                                .size = info.size,
                                                .retention = retention,
                                                .start_s = key->start_s,
                                                .seconds = key->seconds}));
                         return true;
                       });
}

Status WalkPod(const ObjectStore& store, RetentionClass retention, const std::string& prefix,
               const WalkRange& range, const Visit& visit) {
  int64_t first = std::max<int64_t>(range.from_s - kMaxWindowSeconds - 1, 0);
  return ForEachListed(store, prefix, prefix + DateOf(std::min(first, kMaxStartSeconds)),
                       [&](const ObjectInfo& info) -> Result<bool> {
                         Result<CaptureKey> key = ParseCaptureKey(info.key);
                         if (!key) return true;
                         if (key->start_s >= range.to_s) return false;
                         if (!InRange(range, key->start_s, key->seconds)) return true;
                         RETURN_IF_ERROR(visit({.key = info.key,
                                                .size = info.size,
                                                .retention = retention,
                                                .is_capture = true,
                                                .start_s = key->start_s,
                                                .seconds = key->seconds}));
                         return true;
                       });
}

Status WalkCaptures(const ObjectStore& store, RetentionClass retention, const std::string& cluster,
                    const WalkRange& range, const Visit& visit) {
  std::string prefix = CapturePrefix(retention, cluster);
  ASSIGN_OR_RETURN(std::vector<std::string> namespaces, store.ListFolders(prefix));
  for (const std::string& name : namespaces) {
    if (!range.namespace_component.empty() && name != range.namespace_component) continue;
    ASSIGN_OR_RETURN(std::vector<std::string> pods, store.ListFolders(prefix + name + '/'));
    for (const std::string& pod : pods) {
      if (!range.pod_component.empty() && pod != range.pod_component) continue;
      RETURN_IF_ERROR(WalkPod(store, retention, prefix + name + '/' + pod + '/', range, visit));
    }
  }
  return OkStatus();
}

}  // namespace

Status WalkObjects(const ObjectStore& store, const WalkRange& range, const Visit& visit) {
  for (RetentionClass retention : kRetentionClasses) {
    std::string prefix = "v1/" + std::string(RetentionClassName(retention)) + '/';
    ASSIGN_OR_RETURN(std::vector<std::string> clusters, store.ListFolders(prefix));
    for (const std::string& cluster : clusters) {
      if (!CheckKey(cluster)) continue;  // a folder somebody else made
      RETURN_IF_ERROR(WalkBundles(store, retention, cluster, range, visit));
      RETURN_IF_ERROR(WalkCaptures(store, retention, cluster, range, visit));
    }
  }
  return OkStatus();
}

}  // namespace firetower::store
