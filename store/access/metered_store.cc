// SPDX-License-Identifier: Apache-2.0
#include "store/access/metered_store.h"

#include <algorithm>
#include <utility>

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

template <typename T>
T MeteredStore::Counted(StoreOperation operation, uint64_t bytes, T result) const {
  Counters& counters = counters_[static_cast<size_t>(operation)];
  ++counters.calls;
  if (result) {
    counters.bytes += bytes;
  } else if (result.error().code() != ErrorCode::kNotFound) {
    ++counters.errors;
  }
  return result;
}

Status MeteredStore::Put(std::string_view key, std::string_view bytes) {
  return Counted(StoreOperation::kPut, bytes.size(), store_.Put(key, bytes));
}

Status MeteredStore::PutFrom(std::string_view key, const ObjectSource& source) {
  return Counted(StoreOperation::kPut, source.size(), store_.PutFrom(key, source));
}

Result<std::string> MeteredStore::Get(std::string_view key, uint64_t max_bytes) const {
  Result<std::string> bytes = store_.Get(key, max_bytes);
  const uint64_t size = bytes ? bytes->size() : 0;
  return Counted(StoreOperation::kGet, size, std::move(bytes));
}

Result<std::string> MeteredStore::GetRange(std::string_view key, uint64_t offset,
                                           uint64_t length) const {
  return Counted(StoreOperation::kGetRange, length, store_.GetRange(key, offset, length));
}

Result<ObjectTail> MeteredStore::GetTail(std::string_view key, uint64_t length) const {
  Result<ObjectTail> tail = store_.GetTail(key, length);
  const uint64_t size = tail ? tail->bytes.size() : 0;
  return Counted(StoreOperation::kGetTail, size, std::move(tail));
}

Result<uint64_t> MeteredStore::Size(std::string_view key) const {
  return Counted(StoreOperation::kSize, 0, store_.Size(key));
}

Result<std::vector<ObjectInfo>> MeteredStore::List(std::string_view prefix,
                                                   std::string_view start_after,
                                                   size_t limit) const {
  return Counted(StoreOperation::kList, 0, store_.List(prefix, start_after, limit));
}

Result<std::vector<std::string>> MeteredStore::ListFolders(std::string_view prefix) const {
  return Counted(StoreOperation::kListFolders, 0, store_.ListFolders(prefix));
}

Status MeteredStore::Delete(std::string_view key) {
  return Counted(StoreOperation::kDelete, 0, store_.Delete(key));
}

std::vector<Status> MeteredStore::DeleteEach(std::span<const std::string> keys) {
  std::vector<Status> results = store_.DeleteEach(keys);
  const auto failed = std::ranges::find_if(results, [](const Status& one) { return !one; });
  static_cast<void>(
      Counted(StoreOperation::kDelete, 0, failed == results.end() ? OkStatus() : *failed));
  return results;
}

Result<uint64_t> MeteredStore::AbortUploads(std::string_view prefix, int64_t before_s) {
  return Counted(StoreOperation::kAbortUploads, 0, store_.AbortUploads(prefix, before_s));
}

Status MeteredStore::Check() const { return Counted(StoreOperation::kCheck, 0, store_.Check()); }

}  // namespace firetower::store
