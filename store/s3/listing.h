// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "store/s3/client.h"
#include "store/store.h"

namespace firetower::store::s3 {

struct ListPage;

// Listings of a bucket below the store's prefix, page by page: ListObjectsV2, or its first version
// where a server knows no other. Thread-safe.
class Listing {
 public:
  static constexpr size_t kMaxFolders = 100'000;

  explicit Listing(Client& client) : client_(client) {}

  // List as ObjectStore does. kUnsupported for a server that lists out of
  // order.
  Result<std::vector<ObjectInfo>> Objects(std::string_view prefix, std::string_view start_after,
                                          size_t limit, const CallLimits& limits);
  // kExhausted above kMaxFolders.
  Result<std::vector<std::string>> Folders(std::string_view prefix, const CallLimits& limits);

 private:
  struct Question {
    std::string prefix = {};  // with the store's own
    bool folders = false;
    size_t max_keys = ObjectStore::kMaxListed;
    std::string after = {};         // a whole key
    std::string continuation = {};  // of version 2; before `after`
  };
  Result<ListPage> Ask(const Question& question, const CallLimits& limits);
  Result<ListPage> AskOnce(const Question& question, const CallLimits& limits);

  Client& client_;
  std::atomic<bool> version_1_ = false;
};

}  // namespace firetower::store::s3
