// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "store/dir_store.h"
#include "store/s3/s3_store.h"
#include "store/store.h"

namespace firetower::store {
namespace {

constexpr std::string_view kFile = "file://";
constexpr std::string_view kS3 = "s3://";

// The folder of a file:// URL.
Result<std::string> FolderOf(std::string_view url) {
  auto invalid = [&](std::string_view why) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("store \"{}\": {}; allowed are file:///DIR, an absolute path behind "
                             "file://, and s3://BUCKET",
                             url.substr(0, std::min<size_t>(url.find('?'), 200)), why));
  };
  if (!url.starts_with(kFile)) return invalid("unknown kind of store");
  std::string_view path = url.substr(kFile.size());
  if (!path.starts_with('/')) return invalid("a host or a relative path");
  if (path.size() == 1) return invalid("no folder");
  if (std::ranges::any_of(path, [](char c) { return c == '?' || c == '#' || c == '\0'; })) {
    return invalid("a query, a fragment or a zero byte");
  }
  return std::string(path);
}

}  // namespace

Status CheckStoreUrl(std::string_view url) {
  if (url.starts_with(kS3)) {
    RETURN_IF_ERROR(s3::ParseUrl(url, s3::SystemEnvironment()));
  } else {
    RETURN_IF_ERROR(FolderOf(url));
  }
  return OkStatus();
}

Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view url) {
  if (url.starts_with(kS3)) {
    ASSIGN_OR_RETURN(std::unique_ptr<s3::S3Store> store,
                     s3::S3Store::Open(url, s3::SystemEnvironment()));
    return std::unique_ptr<ObjectStore>(std::move(store));
  }
  ASSIGN_OR_RETURN(std::string folder, FolderOf(url));
  ASSIGN_OR_RETURN(std::unique_ptr<DirStore> store, DirStore::Open(std::move(folder)));
  return std::unique_ptr<ObjectStore>(std::move(store));
}

}  // namespace firetower::store
