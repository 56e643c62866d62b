// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "store/dir_store.h"
#include "store/store.h"

namespace firetower::store {

Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view url) {
  constexpr std::string_view kFile = "file://";
  auto invalid = [&](std::string_view why) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("store \"{}\": {}; allowed is file:///DIR, an absolute path behind "
                             "file://",
                             url.substr(0, 200), why));
  };
  if (!url.starts_with(kFile)) return invalid("unknown kind of store");
  std::string_view path = url.substr(kFile.size());
  if (!path.starts_with('/')) return invalid("a host or a relative path");
  if (std::ranges::any_of(path, [](char c) { return c == '?' || c == '#' || c == '\0'; })) {
    return invalid("a query, a fragment or a zero byte");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<DirStore> store, DirStore::Open(std::string(path)));
  return std::unique_ptr<ObjectStore>(std::move(store));
}

}  // namespace firetower::store
