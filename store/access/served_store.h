// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace firetower::store {

// A store as those see it who are answered out of it by somebody else: what it refuses the one who
// reads it for them (kPermission) is no right of theirs, so it counts as away (kUnavailable). So
// does a store that is not there, or whose URL, keys or clock are wrong: the question is not.
// kNotFound, kCorrupt and kExhausted are of one object. For reading: what writes is kUnsupported.
// The store outlives this.
class ServedStore final : public ObjectStore {
 public:
  explicit ServedStore(const ObjectStore& store) : store_(store) {}

  using ObjectStore::Get;
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override;
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override;
  Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const override;
  Result<uint64_t> Size(std::string_view key) const override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit) const override;
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override;
  Status Check() const override;
  Status Put(std::string_view key, std::string_view bytes) override;
  Status PutFrom(std::string_view key, const ObjectSource& source) override;
  Status Delete(std::string_view key) override;
  std::string Describe() const override { return store_.Describe(); }
  int64_t ClockSkewNs() const override { return store_.ClockSkewNs(); }

 private:
  explicit ServedStore(std::unique_ptr<const ObjectStore> owned)
      : owned_(std::move(owned)), store_(*owned_) {}
  // Limits the store below, then serves the limited one.
  std::unique_ptr<ObjectStore> DoLimited(CallLimits limits) override;

  const std::unique_ptr<const ObjectStore> owned_;  // or none
  const ObjectStore& store_;
};

}  // namespace firetower::store
