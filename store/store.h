// SPDX-License-Identifier: Apache-2.0
// ObjectStore: named immutable byte strings. Keys are '/'-separated paths (store/key.h); a listing
// is in byte order of the whole key, as in S3.
//
// The error codes mean: kNotFound, no such object; kPermission, kInvalid and kUnsupported, somebody
// has to change something first; kUnavailable, the same call may succeed later; kExhausted, it may
// succeed when there is room again; kCorrupt, the bytes are not the expected ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/call_limits.h"
#include "base/result.h"

namespace firetower::store {

struct ObjectInfo {
  std::string key = {};
  uint64_t size = 0;
};

struct ObjectTail {
  std::string bytes = {};    // the last ones
  uint64_t object_size = 0;  // of all of it
};

using firetower::CallLimits;
using ObjectSource = ByteSource;

// Implementations may be used by several threads at once.
class ObjectStore {
 public:
  static constexpr size_t kMaxListed = 1000;

  ObjectStore() = default;
  virtual ~ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  // Stores an object atomically: a reader sees the old object or the whole new one. After OK the
  // bytes survive a power cut.
  virtual Status Put(std::string_view key, std::string_view bytes) = 0;
  // Does the same, in memory that does not grow with the object.
  virtual Status PutFrom(std::string_view key, const ObjectSource& source) = 0;
  // kNotFound: there is none. kExhausted: more than `max_bytes`.
  virtual Result<std::string> Get(std::string_view key, uint64_t max_bytes) const = 0;
  Result<std::string> Get(std::string_view key) const { return Get(key, uint64_t{1} << 30); }
  // Reads exactly `length` bytes. kCorrupt: the object ends earlier.
  virtual Result<std::string> GetRange(std::string_view key, uint64_t offset,
                                       uint64_t length) const = 0;
  // Reads the last `length` bytes, or all of a shorter object, and the object's size, in one
  // request.
  virtual Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const = 0;
  virtual Result<uint64_t> Size(std::string_view key) const = 0;
  // Lists up to `limit` objects whose key starts with `prefix` and sorts after `start_after`.
  virtual Result<std::vector<ObjectInfo>> List(std::string_view prefix,
                                               std::string_view start_after,
                                               size_t limit = kMaxListed) const = 0;
  // Lists the next path components below `prefix` ("" or ending in '/'), sorted, without the '/':
  // S3's CommonPrefixes for delimiter '/'.
  virtual Result<std::vector<std::string>> ListFolders(std::string_view prefix) const = 0;
  // Succeeds when there is none.
  virtual Status Delete(std::string_view key) = 0;
  // Deletes several objects, and returns the result of each in their order.
  virtual std::vector<Status> DeleteEach(std::span<const std::string> keys) {
    std::vector<Status> results;
    for (const std::string& key : keys) results.push_back(Delete(key));
    return results;
  }
  // Aborts multipart uploads of keys that start with `prefix` which began before `before_s` (Unix
  // time) and were never completed. Killed processes leave them behind; no listing shows them, and
  // they take up space. Returns their number; 0 for stores without such uploads.
  virtual Result<uint64_t> AbortUploads(std::string_view /*prefix*/, int64_t /*before_s*/) {
    return uint64_t{0};
  }

  // Returns the store's clock minus this machine's, as observed in the last ten minutes: at least
  // that much, and 0 while both may be right. 0 for a store without its own clock, and before its
  // first answer.
  virtual int64_t ClockSkewNs() const { return 0; }

  // Tells whether it can be reached and listed; if not, with the reason and the remedy.
  virtual Status Check() const = 0;

  // Returns a name for messages: "file:///var/lib/firetower".
  virtual std::string Describe() const = 0;

  // Returns the same store for one piece of work: every call through the result also ends when
  // `limits` say so, an S3 call at once, others between two of their steps. This store must outlive
  // the result.
  std::unique_ptr<ObjectStore> Limited(CallLimits limits) { return DoLimited(std::move(limits)); }
  std::unique_ptr<const ObjectStore> Limited(CallLimits limits) const {
    return const_cast<ObjectStore*>(this)->DoLimited(std::move(limits));
  }

 private:
  // Makes the limited store. This default checks the limits before each call.
  virtual std::unique_ptr<ObjectStore> DoLimited(CallLimits limits);
};

// Opens the store of a URL, file:///DIR or s3://BUCKET (docs/reference/object-store.md). kInvalid
// says what is wrong and what is allowed. An S3 store is not contacted yet: Check does that.
Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view url);
// Checks the form of the URL as OpenStore does, without opening anything.
Status CheckStoreUrl(std::string_view url);

}  // namespace firetower::store
