// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// The last results of an operation; unset before the first one.
struct TriesFacts {
  std::optional<int64_t> succeeded_ago_s = {};
  std::optional<int64_t> failed_ago_s = {};
  std::optional<Error> error = {};  // of the last one, if that failed
};

// Profiles that the spool has dropped since the start and that no store has.
struct DropFacts {
  uint64_t profiles = 0;
  int64_t ago_s = 0;                 // the last of it
  std::optional<Error> reason = {};  // of that; unset: nothing was dropped
};

struct StoreFacts {
  std::string url;
  // True for a folder of this machine: the check wrote, read and deleted a file there. Any other
  // store was only listed.
  bool folder = true;
  std::optional<Error> error = {};        // why it cannot be written, or listed
  TriesFacts puts = {};                   // of profiles into the store
  TriesFacts spooled = {};                // into the spool, where there is one
  DropFacts dropped = {};                 // by the spool
  std::string spool = {};                 // its folder
  std::vector<std::string> damaged = {};  // objects of a folder that are not served: wrong bytes
  int64_t skew_s = 0;                     // the store's clock minus this machine's
};

// Check "store": says what was tested, and quotes the store's own errors. Untested parts are
// reported as unknown.
Check StoreCheck(const StoreFacts& facts);

}  // namespace firetower::daemon
