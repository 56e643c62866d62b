// SPDX-License-Identifier: Apache-2.0
// ObjectStore: named immutable byte strings. Keys are '/'-separated paths (store/key.h); a listing
// is in byte order of the whole key, as S3's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::store {

struct ObjectInfo {
  std::string key = {};
  uint64_t size = 0;
};

// Implementations may be used by several threads at once.
class ObjectStore {
 public:
  static constexpr size_t kMaxListed = 1000;

  virtual ~ObjectStore() = default;

  // Atomic: a reader sees the old object or the whole new one. When it returns OK the bytes
  // survive a power cut.
  virtual Status Put(std::string_view key, std::string_view bytes) = 0;
  // kNotFound when there is none; kExhausted above `max_bytes`.
  virtual Result<std::string> Get(std::string_view key, uint64_t max_bytes) const = 0;
  Result<std::string> Get(std::string_view key) const { return Get(key, uint64_t{1} << 30); }
  // Exactly `length` bytes; kCorrupt when the object ends before.
  virtual Result<std::string> GetRange(std::string_view key, uint64_t offset,
                                       uint64_t length) const = 0;
  virtual Result<uint64_t> Size(std::string_view key) const = 0;
  // Up to `limit` objects whose key starts with `prefix` and sorts after `start_after`.
  virtual Result<std::vector<ObjectInfo>> List(std::string_view prefix,
                                               std::string_view start_after,
                                               size_t limit = kMaxListed) const = 0;
  // The next path components below `prefix` ("" or ending in '/'), sorted, without the '/': S3's
  // CommonPrefixes for delimiter '/'.
  virtual Result<std::vector<std::string>> ListFolders(std::string_view prefix) const = 0;
  // Fine when there is none.
  virtual Status Delete(std::string_view key) = 0;

  // For messages: "file:///var/lib/firetower".
  virtual std::string Describe() const = 0;
};

// Opens the store a URL names; kInvalid lists the forms that are allowed (file:///DIR).
Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view url);

}  // namespace firetower::store
