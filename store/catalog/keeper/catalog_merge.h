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

// Writes one catalog, that of `hour`, of the rows of several. A part of the shards is made at a
// time: what is held are the compressed rows of it and a block of each that is read, some 30 MB for
// an hour of 5,000 nodes. Those that cannot be read are added to `damaged`, and nothing is written
// of their shards.
Status MergeCatalogs(ObjectStore& store, const CatalogInterval& hour,
                     std::span<const ListedCatalog> catalogs, std::vector<std::string>& damaged);

}  // namespace firetower::store
