// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "store/s3/client.h"
#include "store/store.h"

namespace firetower::store::s3 {

// S3's own bound of one DeleteObjects.
inline constexpr size_t kMaxDeletedAtOnce = 1000;

// Deletes objects, many with one request where the server can do that. Thread-safe.
class Deletion {
 public:
  explicit Deletion(Client& client) : client_(client) {}

  // Fine when there is none.
  Status One(std::string_view key, const CallLimits& limits);
  // Deletes all keys and returns one status for each, in order. A key that the server does not
  // confirm has failed, even if the answer was 200.
  std::vector<Status> Each(std::span<const std::string> keys, const CallLimits& limits);

 private:
  // Deletes the `some` keys, at most kMaxDeletedAtOnce indices of `keys`, with one request.
  void Batch(std::span<const std::string> keys, std::span<const size_t> some,
             const CallLimits& limits, std::vector<Status>& results);
  // Explains a 404 to a request for several keys.
  Error NoSuchPath(const Call& call, const net::HttpResponse& response) const;
  // One after the other, where the server refused them `together` with that code.
  void DeleteSingly(std::span<const std::string> keys, std::span<const size_t> some,
                    ErrorCode together, const CallLimits& limits, std::vector<Status>& results);

  Client& client_;
  std::atomic<bool> one_by_one_ = false;  // the server said that it knows no other way
};

}  // namespace firetower::store::s3
