// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/s3/client.h"
#include "store/s3/config.h"
#include "store/store.h"

namespace firetower::store::s3 {

class Listing;

// A bucket of S3-compatible storage, or the part of it below a prefix. An object is uploaded
// completely or not at all. Objects above 16 MiB are uploaded in parts, one of which is in memory
// at a time. Calls end at their own deadline (Client::Send) or at the store's, and at once if the
// store's limits are stopped.
class S3Store final : public ObjectStore {
 public:
  // Parses the URL and chooses where credentials come from; nothing is sent yet.
  static Result<std::unique_ptr<S3Store>> Open(std::string_view url,
                                               const Environment& environment);
  explicit S3Store(Client::Parts parts);
  ~S3Store() override;

  using ObjectStore::Get;
  Status Put(std::string_view key, std::string_view bytes) override;
  Status PutFrom(std::string_view key, const ObjectSource& source) override;
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override;
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override;
  Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const override;
  Result<uint64_t> Size(std::string_view key) const override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit = kMaxListed) const override;
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override;
  Status Delete(std::string_view key) override;
  std::vector<Status> DeleteEach(std::span<const std::string> keys) override;
  // MinIO lists the uploads of a whole key only, so that there are none; it aborts them by itself.
  Result<uint64_t> AbortUploads(std::string_view prefix, int64_t before_s) override;
  int64_t ClockSkewNs() const override;
  // Lists one key: needs s3:ListBucket only. Within 15 seconds.
  Status Check() const override;
  std::string Describe() const override;

  ClientCounts counts() const;

 private:
  // State that all stores derived from this one by Limited share.
  struct Shared;
  S3Store(std::shared_ptr<Shared> shared, CallLimits limits);
  std::unique_ptr<ObjectStore> DoLimited(CallLimits limits) override;
  Status PutBody(std::string_view key, const net::HttpBody& body);

  const std::shared_ptr<Shared> shared_;
  const CallLimits limits_ = {};
};

}  // namespace firetower::store::s3
