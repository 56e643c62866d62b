// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/catalog/catalog_line.h"
#include "store/key.h"

namespace firetower::store {

// A matching entry, and its bundle's key.
struct FoundEntry {
  CatalogEntry one = {};
  BundleKey key = {};
};
// Pointers, because rows are large and sorting must not move them.
using FoundEntries = std::vector<std::unique_ptr<FoundEntry>>;

// Chooses the windows and roll-ups that together answer [from_ns, to_ns). A container's roll-up
// replaces its windows if its interval lies inside the range and it has at least as many samples as
// the known windows. So a gap in a roll-up is filled by windows, and nothing counts twice. Longer
// roll-ups have precedence. `found` must contain every matching window of the range. The order of
// the entries stays.
FoundEntries ChooseResolution(FoundEntries found, int64_t from_ns, int64_t to_ns);

}  // namespace firetower::store
