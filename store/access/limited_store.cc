// SPDX-License-Identifier: Apache-2.0
#include "store/access/limited_store.h"

#include <memory>
#include <utility>

namespace firetower::store {

Status CheckLimits(const CallLimits& limits, const Clock& clock) {
  if (limits.stop.stop_requested()) {
    return Error(ErrorCode::kUnavailable, "cancelled: who asked no longer waits");
  }
  if (limits.deadline_ns != CallLimits::kNoDeadline && clock.MonotonicNs() >= limits.deadline_ns) {
    return Error(ErrorCode::kUnavailable, "not done before its deadline");
  }
  return OkStatus();
}

std::unique_ptr<ObjectStore> ObjectStore::DoLimited(CallLimits limits) {
  return std::make_unique<LimitedStore>(*this, std::move(limits));
}

Status LimitedStore::Put(std::string_view key, std::string_view bytes) {
  RETURN_IF_ERROR(MayBegin());
  return store_.Put(key, bytes);
}

Status LimitedStore::PutFrom(std::string_view key, const ObjectSource& source) {
  RETURN_IF_ERROR(MayBegin());
  return store_.PutFrom(key, source);
}

Result<std::string> LimitedStore::Get(std::string_view key, uint64_t max_bytes) const {
  RETURN_IF_ERROR(MayBegin());
  return store_.Get(key, max_bytes);
}

Result<std::string> LimitedStore::GetRange(std::string_view key, uint64_t offset,
                                           uint64_t length) const {
  RETURN_IF_ERROR(MayBegin());
  return store_.GetRange(key, offset, length);
}

Result<ObjectTail> LimitedStore::GetTail(std::string_view key, uint64_t length) const {
  RETURN_IF_ERROR(MayBegin());
  return store_.GetTail(key, length);
}

Result<uint64_t> LimitedStore::Size(std::string_view key) const {
  RETURN_IF_ERROR(MayBegin());
  return store_.Size(key);
}

Result<std::vector<ObjectInfo>> LimitedStore::List(std::string_view prefix,
                                                   std::string_view start_after,
                                                   size_t limit) const {
  RETURN_IF_ERROR(MayBegin());
  return store_.List(prefix, start_after, limit);
}

Result<std::vector<std::string>> LimitedStore::ListFolders(std::string_view prefix) const {
  RETURN_IF_ERROR(MayBegin());
  return store_.ListFolders(prefix);
}

Status LimitedStore::Delete(std::string_view key) {
  RETURN_IF_ERROR(MayBegin());
  return store_.Delete(key);
}

Result<uint64_t> LimitedStore::AbortUploads(std::string_view prefix, int64_t before_s) {
  RETURN_IF_ERROR(MayBegin());
  return store_.AbortUploads(prefix, before_s);
}

Status LimitedStore::Check() const {
  RETURN_IF_ERROR(MayBegin());
  return store_.Check();
}

}  // namespace firetower::store
