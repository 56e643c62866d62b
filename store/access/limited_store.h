// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "store/store.h"

namespace firetower::store {

// kUnavailable when `limits` say that it is over.
Status CheckLimits(const CallLimits& limits, const Clock& clock = Clock::System());

// A store whose calls begin only while its limits allow: what ObjectStore::Limited gives for stores
// whose single calls are short.
class LimitedStore final : public ObjectStore {
 public:
  LimitedStore(ObjectStore& store, CallLimits limits, const Clock& clock = Clock::System())
      : store_(store), limits_(std::move(limits)), clock_(clock) {}

  Status Put(std::string_view key, std::string_view bytes) override;
  Status PutFrom(std::string_view key, const ObjectSource& source) override;
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override;
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override;
  Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const override;
  Result<uint64_t> Size(std::string_view key) const override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit) const override;
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override;
  Status Delete(std::string_view key) override;
  Result<uint64_t> AbortUploads(std::string_view prefix, int64_t before_s) override;
  int64_t ClockSkewNs() const override { return store_.ClockSkewNs(); }
  Status Check() const override;
  std::string Describe() const override { return store_.Describe(); }

 private:
  Status MayBegin() const { return CheckLimits(limits_, clock_); }

  ObjectStore& store_;
  CallLimits limits_;
  const Clock& clock_;
};

}  // namespace firetower::store
