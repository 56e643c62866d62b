// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_listing.h"
#include "store/catalog/interval.h"
#include "store/store.h"

namespace firetower::store {

// Merges several catalogs into that of `hour`. Makes some of the shards at a time, so it holds
// their compressed rows and one block of each input: some 30 MB for an hour of 5,000 nodes. Adds
// unreadable catalogs to `damaged`, and writes nothing for their shards.
Status MergeCatalogs(ObjectStore& store, const CatalogInterval& hour,
                     std::span<const ListedCatalog> catalogs, std::vector<std::string>& damaged);

}  // namespace firetower::store
