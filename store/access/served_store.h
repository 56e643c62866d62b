// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "store/access/wrapping_store.h"

namespace firetower::store {

// A store for answering queries of others. If the store refuses a request of this program
// (kPermission), that is not a missing right of the caller, so it counts as unavailable
// (kUnavailable). The same holds if the store does not exist, or if its URL, keys or clock are
// wrong, because the query is valid. kNotFound, kCorrupt and kExhausted concern one object and are
// passed on. Read-only: writes are kUnsupported. The store must outlive this.
class ServedStore final : public WrappingStore<ServedStore> {
 public:
  // The const_cast is safe, because Around refuses writes.
  explicit ServedStore(const ObjectStore& store) : WrappingStore(const_cast<ObjectStore&>(store)) {}

  Result<uint64_t> Size(std::string_view key) const override;

  template <typename Call>
  auto Around(StoreOperation operation, uint64_t /*written*/, Call call) const -> decltype(call()) {
    RETURN_IF_ERROR(CheckReads(operation));
    auto answer = call();
    if (answer) return answer;
    return ErrorFor(operation, std::move(answer).error());
  }

 private:
  explicit ServedStore(std::unique_ptr<const ObjectStore> owned) : ServedStore(*owned) {
    owned_ = std::move(owned);
  }
  static Status CheckReads(StoreOperation operation);
  // Turns the store's error into the one that the reader gets.
  static Error ErrorFor(StoreOperation operation, Error error);
  // Returns a ServedStore over the limited store.
  std::unique_ptr<ObjectStore> DoLimited(CallLimits limits) override;

  std::unique_ptr<const ObjectStore> owned_;  // or none
};

}  // namespace firetower::store
