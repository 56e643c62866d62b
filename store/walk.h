// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "base/result.h"
#include "store/key.h"
#include "store/store.h"

namespace firetower::store {

// An object whose key is ours, as far as the key tells.
struct StoredObject {
  std::string key = {};
  uint64_t size = 0;
  RetentionClass retention = RetentionClass::kStandard;
  bool is_capture = false;
  int64_t start_s = 0;
  int64_t seconds = 0;
};

struct WalkRange {
  // Windows that may overlap [from_s, to_s).
  int64_t from_s = 0;
  int64_t to_s = std::numeric_limits<int64_t>::max();
  // Captures of this namespace and pod only; empty: of all.
  std::string namespace_component = {};
  std::string pod_component = {};
};

// Calls `visit` for every bundle and capture of the range, each class and cluster in time order
// (captures: per pod), a page of the listing at a time; stops at the first error. Objects with
// foreign names are passed over.
Status WalkObjects(const ObjectStore& store, const WalkRange& range,
                   const std::function<Status(const StoredObject& object)>& visit);

}  // namespace firetower::store
