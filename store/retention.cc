// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "store/walk.h"

namespace firetower::store {

int64_t RetentionPolicy::SecondsOf(RetentionClass retention) const {
  switch (retention) {
    case RetentionClass::kShort:
      return short_seconds;
    case RetentionClass::kStandard:
      return standard_seconds;
    case RetentionClass::kLong:
      return long_seconds;
  }
  return 0;
}

Result<RetentionResult> ApplyRetention(ObjectStore& store, const RetentionPolicy& policy,
                                       int64_t now_ns) {
  std::vector<StoredObject> objects;
  RETURN_IF_ERROR(WalkObjects(store, {.kinds = kAllKinds}, [&](const StoredObject& object) {
    objects.push_back(object);
    return OkStatus();
  }));
  std::ranges::sort(objects, [](const StoredObject& a, const StoredObject& b) {
    return std::tie(a.start_s, a.key) < std::tie(b.start_s, b.key);
  });
  uint64_t bytes = 0;
  for (const StoredObject& object : objects) bytes += object.size;

  RetentionResult result;
  int64_t now_s = now_ns / kNsPerSecond;
  for (const StoredObject& object : objects) {
    const bool is_catalog = object.kind == ObjectKind::kCatalog;
    int64_t keep_s = policy.SecondsOf(object.retention);
    if (is_catalog && keep_s > 0) keep_s += kSecondsPerDay;
    bool too_old = keep_s > 0 && object.start_s + object.seconds + keep_s < now_s;
    bool too_many = policy.max_bytes > 0 && bytes > policy.max_bytes;
    bool newest = object.start_s == objects.back().start_s;
    if (!newest && (too_old || too_many)) {
      Status deleted = store.Delete(object.key);
      if (deleted) {
        bytes -= object.size;
        result.deleted_bytes += object.size;
        result.deleted.push_back(object.key);
        continue;
      }
      result.errors.push_back(object.key + ": " + deleted.error().message());
    }
    ++result.kept_objects;
  }
  result.kept_bytes = bytes;
  return result;
}

}  // namespace firetower::store
