// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace firetower::store {

struct VerifyLimits {
  uint64_t max_objects = 1000;
  uint64_t max_bytes = uint64_t{256} << 20;
};

struct DamagedObject {
  std::string key = {};
  std::string entry = {};   // of a bundle; empty: the whole object
  std::string reason = {};  // "truncated: …", "bad CRC-32: …", "not a ZIP: …"
};

struct VerifyResult {
  uint64_t objects = 0;  // looked at
  uint64_t entries = 0;  // profiles in them
  uint64_t bytes = 0;
  uint64_t not_checked = 0;  // older ones, past the limits
  std::vector<DamagedObject> damaged = {};
};

// Reads the newest objects whole, checks structure and checksums, and names the damaged ones.
Result<VerifyResult> VerifyStore(const ObjectStore& store, const VerifyLimits& limits = {});

}  // namespace firetower::store
