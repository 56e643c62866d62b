// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_cache.h"

namespace firetower::store {

RangeReader ReaderOf(const ObjectStore& store, const std::string& key) {
  return [&store, key](uint64_t offset, uint64_t length) {
    return store.GetRange(key, offset, length);
  };
}

Result<std::shared_ptr<const CatalogFile>> CatalogCache::Open(const ListedCatalog& catalog,
                                                              const ObjectStore& through) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(catalog.key);
    if (found != places_.end()) {
      held_.splice(held_.begin(), held_, found->second);
      return found->second->file;
    }
  }
  ASSIGN_OR_RETURN(CatalogFile opened,
                   CatalogFile::Open(catalog.size, ReaderOf(through, catalog.key)));
  auto file = std::make_shared<const CatalogFile>(std::move(opened));
  const std::lock_guard lock(mutex_);
  if (file->bytes() > max_bytes_ || places_.contains(catalog.key)) return file;
  held_.push_front({catalog.key, file});
  places_.emplace(catalog.key, held_.begin());
  bytes_ += file->bytes();
  while (bytes_ > max_bytes_) {
    bytes_ -= held_.back().file->bytes();
    places_.erase(held_.back().key);
    held_.pop_back();
  }
  return file;
}

size_t CatalogCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace firetower::store
