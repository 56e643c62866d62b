// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/selector.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::store {

// The id of a stored profile: the object and, in a bundle, the entry. As text `<key>:<entry>`, or a
// capture's `<key>`. It stays the same as long as the profile is stored.
struct StoredProfileId {
  std::string key = {};
  std::string entry = {};  // "" of a capture

  std::string ToString() const { return entry.empty() ? key : key + ':' + entry; }
  // Parses an id. kInvalid: it cannot be one.
  static Result<StoredProfileId> Parse(std::string_view text);
  // Returns the namespace that the id claims, "-" for a host's profile. The row
  // decides.
  std::string NamespaceComponent() const;
};

struct StoredProfile {
  CatalogRow row = {};
  std::string pprof_gz = {};  // as it is stored
};

// Reads a stored profile. kNotFound: `allowed` matches none, or it belongs to another cluster than
// the source's. kExhausted: it passes limits.max_read_bytes or limits.max_merged_bytes. kCorrupt:
// it is damaged.
Result<StoredProfile> ReadStoredProfile(const ProfileSource& source, const StoredProfileId& id,
                                        const profile::Selector& allowed,
                                        const QueryLimits& limits);

}  // namespace firetower::store
