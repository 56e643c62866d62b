// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "store/catalog/catalog_file.h"

namespace firetower::store {

// Of windows and of roll-ups of them, those that together are the answer to [from_ns, to_ns): a
// container's roll-up stands for its windows where its interval lies inside and it holds at least
// as many samples as those that are known. So what a roll-up lacks, and what has none, is there by
// its windows, and nothing is there twice. Longer roll-ups come first. `found` must hold every
// window of the range that matches; entries that are no bundle's are kept. Their order is kept.
std::vector<CatalogEntry> ChooseResolution(std::vector<CatalogEntry> found, int64_t from_ns,
                                           int64_t to_ns);

}  // namespace firetower::store
