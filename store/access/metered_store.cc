// SPDX-License-Identifier: Apache-2.0
#include "store/access/metered_store.h"

#include <algorithm>

namespace firetower::store {

std::string_view StoreOperationName(StoreOperation operation) {
  constexpr std::array<std::string_view, kStoreOperations> kNames = {
      "put",  "get",          "get_range", "get_tail",      "size",
      "list", "list_folders", "delete",    "abort_uploads", "check"};
  return kNames[static_cast<size_t>(operation)];
}

OperationCount MeteredStore::Count(StoreOperation operation) const {
  const Counters& counters = counters_[static_cast<size_t>(operation)];
  return {.calls = counters.calls, .errors = counters.errors, .bytes = counters.bytes};
}

OperationCount MeteredStore::Total() const {
  OperationCount total;
  for (size_t i = 0; i < kStoreOperations; ++i) {
    const OperationCount count = Count(static_cast<StoreOperation>(i));
    total.calls += count.calls;
    total.errors += count.errors;
    total.bytes += count.bytes;
  }
  return total;
}

void MeteredStore::Add(StoreOperation operation, uint64_t bytes, const Error* error) const {
  Counters& counters = counters_[static_cast<size_t>(operation)];
  ++counters.calls;
  counters.bytes += bytes;
  if (error != nullptr && error->code() != ErrorCode::kNotFound) ++counters.errors;
}

std::vector<Status> MeteredStore::DeleteEach(std::span<const std::string> keys) {
  std::vector<Status> results = wrapped().DeleteEach(keys);
  const auto failed = std::ranges::find_if(results, [](const Status& one) { return !one; });
  Add(StoreOperation::kDelete, 0, failed == results.end() ? nullptr : &failed->error());
  return results;
}

}  // namespace firetower::store
