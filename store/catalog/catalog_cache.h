// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/catalog/catalog_file.h"
#include "store/catalog/catalog_listing.h"
#include "store/store.h"

namespace firetower::store {

// LRU cache of the indexes of catalogs. A catalog's name contains a hash of its content, so a
// cached index is never outdated. Any thread.
class CatalogCache {
 public:
  explicit CatalogCache(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Reads the index unless it is cached. `through` is the same store, with limits of its own.
  Result<std::shared_ptr<const CatalogFile>> Open(const ListedCatalog& catalog,
                                                  const ObjectStore& through);
  size_t bytes() const;

 private:
  struct Held {
    std::string key;
    std::shared_ptr<const CatalogFile> file;
  };
  using Place = std::list<Held>::iterator;

  const size_t max_bytes_;
  mutable std::mutex mutex_;  // questions of several threads; not held while one reads
  std::list<Held> held_;      // the latest used first
  std::map<std::string, Place, std::less<>> places_;
  size_t bytes_ = 0;
};

RangeReader ReaderOf(const ObjectStore& store, const std::string& key);

}  // namespace firetower::store
