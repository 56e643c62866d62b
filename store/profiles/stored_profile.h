// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/selector.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::store {

// Which stored profile: the object and, in a bundle, the entry. As text `<key>:<entry>`, or a
// capture's `<key>`, which stays the same as long as the profile is stored.
struct StoredProfileId {
  std::string key = {};
  std::string entry = {};  // "" of a capture

  std::string ToString() const { return entry.empty() ? key : key + ':' + entry; }
  // kInvalid for what can be none.
  static Result<StoredProfileId> Parse(std::string_view text);
  // Returns the namespace that the id claims, "-" for a host's profile. The row
  // decides.
  std::string NamespaceComponent() const;
};

struct StoredProfile {
  CatalogRow row = {};
  std::string pprof_gz = {};  // as it is stored
};

// kNotFound when there is none that `allowed` matches, or it is of another cluster than the
// source's. kExhausted when it passes limits.max_read_bytes or limits.max_merged_bytes. kCorrupt
// when it is damaged.
Result<StoredProfile> ReadStoredProfile(const ProfileSource& source, const StoredProfileId& id,
                                        const profile::Selector& allowed,
                                        const QueryLimits& limits);

}  // namespace firetower::store
