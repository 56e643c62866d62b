// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace firetower::store {

// The union of two stores, for readers. Objects may move from the first to the second meanwhile; a
// moving object is never missed and never listed twice. Both stores must outlive this. Limited also
// returns a view for readers.
class BothStores : public ObjectStore {
 public:
  BothStores(const ObjectStore& first, const ObjectStore& second)
      : first_(first), second_(second) {}

  using ObjectStore::Get;
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override;
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override;
  Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const override;
  Result<uint64_t> Size(std::string_view key) const override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit) const override;
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override;
  // kUnsupported.
  Status Put(std::string_view key, std::string_view bytes) override;
  Status PutFrom(std::string_view key, const ObjectSource& source) override;
  Status Delete(std::string_view key) override;
  // Checks both stores.
  Status Check() const override;
  std::string Describe() const override { return second_.Describe(); }

 private:
  std::unique_ptr<ObjectStore> DoLimited(CallLimits limits) override;

  const ObjectStore& first_;
  const ObjectStore& second_;
};

}  // namespace firetower::store
