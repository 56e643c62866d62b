// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace firetower::store {

// Access to the files that a DirStore makes, and to the folders around them. Other users never have
// it, because profiles tell what the containers of all tenants do.
enum class DirAccess {
  kGroup,  // 0640, 0750
  kOwner,  // 0600, 0700
};

// A store in a directory: the key is the path. A Put writes a temporary file beside the object,
// syncs it, renames it and syncs the folder, so a process killed at any point leaves old or new.
// Temporary files are never listed or served; Open removes those a killed process left.
class DirStore : public ObjectStore {
 public:
  // Creates the directory if need be; one that is there keeps its mode. kInvalid unless `root` is
  // absolute.
  static Result<std::unique_ptr<DirStore>> Open(std::string root,
                                                DirAccess access = DirAccess::kGroup);

  using ObjectStore::Get;
  Status Put(std::string_view key, std::string_view bytes) override;
  Status PutFrom(std::string_view key, const ObjectSource& source) override;
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override;
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override;
  Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const override;
  Result<uint64_t> Size(std::string_view key) const override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit = kMaxListed) const override;
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override;
  // Also removes the folders that became empty.
  Status Delete(std::string_view key) override;
  Status Check() const override;
  // The object is in `to`, or in this one, at every moment; both lie on one file system.
  Status MoveTo(DirStore& to, std::string_view key);
  std::string Describe() const override { return "file://" + root_; }

  const std::string& root() const { return root_; }
  // Temporary files removed by Open.
  size_t swept_files() const { return swept_files_; }

 private:
  DirStore(std::string root, DirAccess access) : root_(std::move(root)), access_(access) {}
  Result<std::string> PathOf(std::string_view key) const;
  // Makes the folders of `path` and calls `write`.
  Status WriteInFolders(const std::string& path, const std::function<Status()>& write);
  // Folders above `path` that are empty now.
  void RemoveEmptyFolders(const std::string& path);

  std::string root_;  // absolute, no trailing slash
  const DirAccess access_;
  size_t swept_files_ = 0;
  // A mutex, since Put and the sweep of another thread meet in the file system: Put shares it while
  // it makes folders and a file in them, Delete holds it alone while it removes empty ones.
  std::shared_mutex folders_;
};

}  // namespace firetower::store
