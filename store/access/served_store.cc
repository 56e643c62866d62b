// SPDX-License-Identifier: Apache-2.0
#include "store/access/served_store.h"

#include <fmt/core.h>

namespace firetower::store {
namespace {

Error Away(std::string_view why, const Error& error) {
  return {ErrorCode::kUnavailable, fmt::format("the store {}: {}", why, error.message()),
          error.sys_errno()};
}

// Whether somebody has to change something of the store or of this machine first. What an object
// is at fault for (kCorrupt, kExhausted above a bound) is not, nor is one that is not there.
bool IsStoresFault(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalid:
    case ErrorCode::kUnsupported:
      return true;
    case ErrorCode::kExhausted:
    case ErrorCode::kInternal:
      return error.sys_errno() != 0;  // no file descriptors, a disk that fails
    default:
      return false;
  }
}

// Turns the store's answer about an object into the caller's answer. A missing object may have been
// deleted in this moment, which readers can tell apart (kNotFound).
template <typename T>
T ServedObject(T result) {
  if (result) return result;
  if (result.error().code() == ErrorCode::kPermission) {
    return Away("refuses its reader", result.error());
  }
  if (IsStoresFault(result.error())) return Away("cannot be read", result.error());
  return result;
}

// The same of the store itself: a folder without objects is an empty list, so that what is not
// found is the bucket, and what is no list comes from no server of S3.
template <typename T>
T ServedListing(T result) {
  if (!result && (result.error().code() == ErrorCode::kNotFound ||
                  result.error().code() == ErrorCode::kCorrupt)) {
    return Away("cannot be read", result.error());
  }
  return ServedObject(std::move(result));
}

Error ReadOnly() {
  return {ErrorCode::kUnsupported, "who is answered out of a store writes nothing to it"};
}

}  // namespace

Result<std::string> ServedStore::Get(std::string_view key, uint64_t max_bytes) const {
  return ServedObject(store_.Get(key, max_bytes));
}

Result<std::string> ServedStore::GetRange(std::string_view key, uint64_t offset,
                                          uint64_t length) const {
  return ServedObject(store_.GetRange(key, offset, length));
}

Result<ObjectTail> ServedStore::GetTail(std::string_view key, uint64_t length) const {
  return ServedObject(store_.GetTail(key, length));
}

Result<uint64_t> ServedStore::Size(std::string_view key) const {
  Result<uint64_t> size = ServedObject(store_.Size(key));
  if (size || size.error().code() != ErrorCode::kNotFound) return size;
  // An answer to HEAD has no body to say what is missing, the object or the bucket; one to GET has.
  ASSIGN_OR_RETURN(const ObjectTail tail, GetTail(key, 1));
  return tail.object_size;
}

Result<std::vector<ObjectInfo>> ServedStore::List(std::string_view prefix,
                                                  std::string_view start_after,
                                                  size_t limit) const {
  return ServedListing(store_.List(prefix, start_after, limit));
}

Result<std::vector<std::string>> ServedStore::ListFolders(std::string_view prefix) const {
  return ServedListing(store_.ListFolders(prefix));
}

Status ServedStore::Check() const { return ServedListing(store_.Check()); }

Status ServedStore::Put(std::string_view, std::string_view) { return ReadOnly(); }
Status ServedStore::PutFrom(std::string_view, const ObjectSource&) { return ReadOnly(); }
Status ServedStore::Delete(std::string_view) { return ReadOnly(); }

std::unique_ptr<ObjectStore> ServedStore::DoLimited(CallLimits limits) {
  return std::unique_ptr<ObjectStore>(new ServedStore(store_.Limited(std::move(limits))));
}

}  // namespace firetower::store
