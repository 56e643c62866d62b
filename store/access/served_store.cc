// SPDX-License-Identifier: Apache-2.0
#include "store/access/served_store.h"

namespace firetower::store {
namespace {

// What came of asking the store, for whoever is answered.
template <typename T>
T Served(T result) {
  if (result || result.error().code() != ErrorCode::kPermission) return result;
  return Error(ErrorCode::kUnavailable,
               "the store refuses its reader: " + result.error().message());
}

Error ReadOnly() {
  return {ErrorCode::kUnsupported, "who is answered out of a store writes nothing to it"};
}

}  // namespace

Result<std::string> ServedStore::Get(std::string_view key, uint64_t max_bytes) const {
  return Served(store_.Get(key, max_bytes));
}

Result<std::string> ServedStore::GetRange(std::string_view key, uint64_t offset,
                                          uint64_t length) const {
  return Served(store_.GetRange(key, offset, length));
}

Result<ObjectTail> ServedStore::GetTail(std::string_view key, uint64_t length) const {
  return Served(store_.GetTail(key, length));
}

Result<uint64_t> ServedStore::Size(std::string_view key) const { return Served(store_.Size(key)); }

Result<std::vector<ObjectInfo>> ServedStore::List(std::string_view prefix,
                                                  std::string_view start_after,
                                                  size_t limit) const {
  return Served(store_.List(prefix, start_after, limit));
}

Result<std::vector<std::string>> ServedStore::ListFolders(std::string_view prefix) const {
  return Served(store_.ListFolders(prefix));
}

Status ServedStore::Check() const { return Served(store_.Check()); }

Status ServedStore::Put(std::string_view, std::string_view) { return ReadOnly(); }
Status ServedStore::PutFrom(std::string_view, const ObjectSource&) { return ReadOnly(); }
Status ServedStore::Delete(std::string_view) { return ReadOnly(); }

std::unique_ptr<ObjectStore> ServedStore::DoLimited(CallLimits limits) {
  return std::unique_ptr<ObjectStore>(new ServedStore(store_.Limited(std::move(limits))));
}

}  // namespace firetower::store
