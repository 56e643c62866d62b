// SPDX-License-Identifier: Apache-2.0
#include "store/access/served_store.h"

#include <fmt/core.h>

namespace firetower::store {
namespace {

Error Away(std::string_view why, const Error& error) {
  return {ErrorCode::kUnavailable, fmt::format("the store {}: {}", why, error.message()),
          error.sys_errno()};
}

// Returns true if an operator must first change something about the store or this machine. Errors
// of one object (kCorrupt, kExhausted above a bound, kNotFound) are not of that kind.
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

bool IsListing(StoreOperation operation) {
  return operation == StoreOperation::kList || operation == StoreOperation::kListFolders ||
         operation == StoreOperation::kCheck;
}

}  // namespace

Status ServedStore::CheckReads(StoreOperation operation) {
  const bool writes = operation == StoreOperation::kPut || operation == StoreOperation::kDelete ||
                      operation == StoreOperation::kAbortUploads;
  if (!writes) return OkStatus();
  return Error(ErrorCode::kUnsupported, "this store is read-only");
}

Error ServedStore::ErrorFor(StoreOperation operation, Error error) {
  // A listing of a folder without objects is an empty list. So kNotFound means that the bucket is
  // missing, and kCorrupt that the server is not an S3 server. For a single object kNotFound is
  // passed on: it may have been deleted at this moment.
  if (IsListing(operation) &&
      (error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kCorrupt)) {
    return Away("cannot be read", error);
  }
  if (error.code() == ErrorCode::kPermission) return Away("refuses its reader", error);
  if (IsStoresFault(error)) return Away("cannot be read", error);
  return error;
}

Result<uint64_t> ServedStore::Size(std::string_view key) const {
  Result<uint64_t> size = WrappingStore::Size(key);
  if (size || size.error().code() != ErrorCode::kNotFound) return size;
  // The answer to HEAD has no body that says whether the object or the bucket is missing. The
  // answer to GET has one.
  ASSIGN_OR_RETURN(const ObjectTail tail, GetTail(key, 1));
  return tail.object_size;
}

std::unique_ptr<ObjectStore> ServedStore::DoLimited(CallLimits limits) {
  const ObjectStore& store = wrapped();
  return std::unique_ptr<ObjectStore>(new ServedStore(store.Limited(std::move(limits))));
}

}  // namespace firetower::store
