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

// Of windows and of roll-ups of them, those that together are the answer to [from_ns, to_ns): a
// container's roll-up stands for its windows where its interval lies inside and it holds at least
// as many samples as those that are known. So what a roll-up lacks, and what has none, is there by
// its windows, and nothing is there twice. Longer roll-ups come first. `found` must hold every
// window of the range that matches. Their order is kept.
FoundEntries ChooseResolution(FoundEntries found, int64_t from_ns, int64_t to_ns);

}  // namespace firetower::store
