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

// Access to the files that a DirStore makes, and to their folders. Other users never have access,
// because profiles show what the containers of all tenants do.
enum class DirAccess {
  kGroup,  // 0640, 0750
  kOwner,  // 0600, 0700
};

// A store in a directory: the key is the path. Put writes a temporary file beside the object, syncs
// it, renames it and syncs the folder, so that a kill at any point leaves the old or the new
// object. Temporary files are never listed or served; Open removes those of killed processes.
class DirStore : public ObjectStore {
 public:
  // Creates the directory if needed; an existing one keeps its mode. kInvalid: `root` is not
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
  // Also removes folders that become empty.
  Status Delete(std::string_view key) override;
  Status Check() const override;
  // Moves an object so that it is in one of the stores at every moment. Both must be on one file
  // system.
  Status MoveTo(DirStore& to, std::string_view key);
  std::string Describe() const override { return "file://" + root_; }

  const std::string& root() const { return root_; }
  // The number of temporary files that Open removed.
  size_t swept_files() const { return swept_files_; }

 private:
  DirStore(std::string root, DirAccess access) : root_(std::move(root)), access_(access) {}
  Result<std::string> PathOf(std::string_view key) const;
  // Makes the folders of `path` and calls `write`.
  Status WriteInFolders(const std::string& path, const std::function<Status()>& write);
  // Removes empty folders above `path`.
  void RemoveEmptyFolders(const std::string& path);

  std::string root_;  // absolute, no trailing slash
  const DirAccess access_;
  size_t swept_files_ = 0;
  // A mutex, because Put and the sweep of another thread conflict in the file system: Put holds it
  // shared while it makes folders and a file in them, Delete holds it alone while it removes empty
  // ones.
  std::shared_mutex folders_;
};

}  // namespace firetower::store
