// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/access/wrapping_store.h"

namespace firetower::store {

inline constexpr size_t kStoreOperations = 10;
std::string_view StoreOperationName(StoreOperation operation);  // "put", "get_range"

struct OperationCount {
  uint64_t calls = 0;
  uint64_t errors = 0;  // of the calls; kNotFound is an answer, not an error
  uint64_t bytes = 0;   // of objects, written or read
  bool operator==(const OperationCount&) const = default;
};

// Counts calls by operation and passes them on. A call is one request of an S3 store, except
// multipart uploads, aborts of uploads, and listings of several pages.
class MeteredStore final : public WrappingStore<MeteredStore> {
 public:
  explicit MeteredStore(ObjectStore& store) : WrappingStore(store) {}

  OperationCount Count(StoreOperation operation) const;
  OperationCount Total() const;

  // Counts as one call, which fails if one deletion fails.
  std::vector<Status> DeleteEach(std::span<const std::string> keys) override;
  template <typename Call>
  auto Around(StoreOperation operation, uint64_t written, Call call) const -> decltype(call()) {
    auto result = call();
    if (result) {
      Add(operation, written + BytesOf(result), nullptr);
    } else {
      Add(operation, 0, &result.error());
    }
    return result;
  }

 private:
  struct Counters {
    std::atomic<uint64_t> calls = 0;
    std::atomic<uint64_t> errors = 0;
    std::atomic<uint64_t> bytes = 0;
  };

  template <typename T>
  static uint64_t BytesOf(const T& result) {
    if constexpr (std::is_same_v<T, Result<std::string>>) return result->size();
    if constexpr (std::is_same_v<T, Result<ObjectTail>>) return result->bytes.size();
    return 0;
  }
  // Counts a call; `error`: null if there was none.
  void Add(StoreOperation operation, uint64_t bytes, const Error* error) const;

  mutable std::array<Counters, kStoreOperations> counters_ = {};
};

}  // namespace firetower::store
