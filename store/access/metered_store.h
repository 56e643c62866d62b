// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace firetower::store {

enum class StoreOperation : uint8_t {
  kPut,
  kGet,
  kGetRange,
  kGetTail,
  kSize,
  kList,
  kListFolders,
  kDelete,
  kAbortUploads,
  kCheck,
};
inline constexpr size_t kStoreOperations = 10;
std::string_view StoreOperationName(StoreOperation operation);  // "put", "get_range"

struct OperationCount {
  uint64_t calls = 0;
  uint64_t errors = 0;  // of the calls; kNotFound is an answer, not an error
  uint64_t bytes = 0;   // of objects, written or read
  bool operator==(const OperationCount&) const = default;
};

// Counts what passes through, by operation. A store call is one request of an S3 store, but for a
// multipart upload, uploads that are aborted, and a listing of several pages.
class MeteredStore final : public ObjectStore {
 public:
  explicit MeteredStore(ObjectStore& store) : store_(store) {}

  OperationCount Count(StoreOperation operation) const;
  OperationCount Total() const;

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
  // One call, which fails if one of them does.
  std::vector<Status> DeleteEach(std::span<const std::string> keys) override;
  Result<uint64_t> AbortUploads(std::string_view prefix, int64_t before_s) override;
  int64_t ClockSkewNs() const override { return store_.ClockSkewNs(); }
  Status Check() const override;
  std::string Describe() const override { return store_.Describe(); }

 private:
  struct Counters {
    std::atomic<uint64_t> calls = 0;
    std::atomic<uint64_t> errors = 0;
    std::atomic<uint64_t> bytes = 0;
  };

  // Counts `result` as one call of `operation` and passes it on.
  template <typename T>
  T Counted(StoreOperation operation, uint64_t bytes, T result) const;

  ObjectStore& store_;
  mutable std::array<Counters, kStoreOperations> counters_ = {};
};

}  // namespace firetower::store
