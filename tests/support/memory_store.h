// SPDX-License-Identifier: Apache-2.0
// A store in memory whose Put can be made to fail, or to be looked at while it happens. Any thread
// may call it; what it holds is looked at and changed from outside only while nobody does.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "store/store.h"

namespace firetower::testing {

class MemoryStore : public store::ObjectStore {
 public:
  Status Put(std::string_view key, std::string_view bytes) override {
    if (on_put) on_put(std::string(key));
    const std::lock_guard lock(mutex_);
    ++puts;
    if (refuse > 0) {
      --refuse;
      return Error(ErrorCode::kUnavailable, "no space left");
    }
    if (const auto refused = refuse_keys.find(std::string(key)); refused != refuse_keys.end())
      return Error(refused->second, "not this one");
    overwritten += objects.count(std::string(key));
    objects[std::string(key)] = bytes;
    return OkStatus();
  }
  Status PutFrom(std::string_view key, const store::ObjectSource& source) override {
    std::string bytes(source.size(), '\0');
    RETURN_IF_ERROR(source.ReadAt(0, std::as_writable_bytes(std::span(bytes))));
    return Put(key, bytes);
  }
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override {
    const std::lock_guard lock(mutex_);
    auto found = objects.find(std::string(key));
    if (found == objects.end()) return Error(ErrorCode::kNotFound, std::string(key));
    if (found->second.size() > max_bytes) return Error(ErrorCode::kExhausted, std::string(key));
    return found->second;
  }
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override {
    ++reads;
    ASSIGN_OR_RETURN(std::string all, store::ObjectStore::Get(key));
    if (offset + length > all.size()) return Error(ErrorCode::kCorrupt, "beyond the end");
    return all.substr(offset, length);
  }
  Result<store::ObjectTail> GetTail(std::string_view key, uint64_t length) const override {
    ++reads;
    ASSIGN_OR_RETURN(std::string all, store::ObjectStore::Get(key));
    return store::ObjectTail{.bytes = all.substr(all.size() - std::min<size_t>(length, all.size())),
                             .object_size = all.size()};
  }
  Result<uint64_t> Size(std::string_view key) const override {
    ASSIGN_OR_RETURN(std::string all, store::ObjectStore::Get(key));
    return uint64_t{all.size()};
  }
  Result<std::vector<store::ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                              size_t limit) const override {
    // Some servers refuse another, or list from there on whatever the prefix.
    CHECK(start_after.empty() || start_after.starts_with(prefix));
    const std::lock_guard lock(mutex_);
    std::vector<store::ObjectInfo> listed;
    for (const auto& [key, bytes] : objects) {
      if (listed.size() >= limit) break;
      if (key.starts_with(prefix) && key > start_after) listed.push_back({key, bytes.size()});
    }
    return listed;
  }
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> folders;
    for (const auto& [key, bytes] : objects) {
      size_t end = key.find('/', prefix.size());
      if (!key.starts_with(prefix) || end == std::string::npos) continue;
      std::string folder = key.substr(prefix.size(), end - prefix.size());
      if (folders.empty() || folders.back() != folder) folders.push_back(folder);
    }
    return folders;
  }
  Status Delete(std::string_view key) override {
    const std::lock_guard lock(mutex_);
    objects.erase(std::string(key));
    return OkStatus();
  }
  Result<uint64_t> AbortUploads(std::string_view prefix, int64_t before_s) override {
    if (refuse_uploads) return Error(*refuse_uploads, "no such listing");
    return uint64_t{std::erase_if(uploads, [&](const auto& upload) {
      return upload.first.starts_with(prefix) && upload.second < before_s;
    })};
  }
  Status Check() const override { return OkStatus(); }
  std::string Describe() const override { return "memory"; }

  std::map<std::string, std::string> objects;
  int puts = 0;
  mutable std::atomic<int> reads = 0;  // of parts of objects
  size_t overwritten = 0;
  int refuse = 0;  // so many of the next Puts fail
  std::map<std::string, ErrorCode> refuse_keys;
  std::map<std::string, int64_t> uploads;  // in parts, by key: when they began, Unix time
  std::optional<ErrorCode> refuse_uploads;
  std::function<void(const std::string& key)> on_put;

 private:
  mutable std::mutex mutex_;  // of objects: several threads call at once
};

}  // namespace firetower::testing
