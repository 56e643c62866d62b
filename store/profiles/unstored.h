// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "store/bundle.h"
#include "store/find.h"
#include "store/query.h"

namespace firetower::store {

// The open profiles that are not in the store. One that was stored after the listing is read from
// there, complete, and must not count twice: its name contains the container, the type and the
// start.
class Unstored {
 public:
  // The profiles must outlive this.
  explicit Unstored(std::span<const OpenProfile> open) : open_(open) {
    for (const OpenProfile& profile : open) names_.emplace(BundleEntryName(profile.row), false);
  }
  void Found(const FoundProfile& found) {
    if (found.entry == nullptr) return;
    auto name = names_.find(found.entry->name);
    if (name != names_.end()) name->second = true;
  }
  // Calls `visit` until it fails. Must be called after all stored profiles were found.
  template <typename Visit>
  Status ForEach(Visit visit) const {
    for (const OpenProfile& profile : open_) {
      if (names_.at(BundleEntryName(profile.row))) continue;
      RETURN_IF_ERROR(visit(profile));
    }
    return OkStatus();
  }

 private:
  std::span<const OpenProfile> open_;
  std::map<std::string, bool, std::less<>> names_;  // true: in the store
};

}  // namespace firetower::store
