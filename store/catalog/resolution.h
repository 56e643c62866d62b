// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/catalog/catalog_line.h"
#include "store/key.h"

namespace firetower::store {

// An entry that matches, and its bundle's key.
struct FoundEntry {
  CatalogEntry one = {};
  BundleKey key = {};
};
// Rows are large: what sorts and chooses moves none.
using FoundEntries = std::vector<std::unique_ptr<FoundEntry>>;

// Chooses those windows and roll-ups that together answer [from_ns, to_ns). A container's roll-up
// replaces its windows if its interval lies inside the range and it holds at least as many samples
// as the known windows. A gap in a roll-up is therefore filled by windows, and nothing counts
// twice. Longer roll-ups come first. `found` must hold every window of the range that matches. The
// order of the entries stays.
FoundEntries ChooseResolution(FoundEntries found, int64_t from_ns, int64_t to_ns);

}  // namespace firetower::store
