// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_listing.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "store/catalog/interval.h"

namespace firetower::store {
namespace {

auto OrderOf(const ListedCatalog& one) {
  return std::tie(one.parsed.start_s, one.parsed.seconds, one.key);
}

// Shards that were found, by how many there are of them.
using FoundShards = std::map<uint32_t, std::set<uint32_t>>;

// Whether those of some number of shards are all that have rows of shard `of` of `among`.
bool AreAllOf(const FoundShards& found, uint32_t of, uint32_t among) {
  return std::ranges::any_of(found, [&](const auto& one) {
    const auto& [shards, which] = one;
    if (shards <= among) return which.contains(of % shards);
    uint32_t needed = shards / among;
    for (const uint32_t shard : which) needed -= shard % among == of ? 1 : 0;
    return needed == 0;
  });
}

bool HoldsHash(const FoundShards& found, uint64_t hash) {
  return std::ranges::any_of(found, [&](const auto& one) {
    return one.second.contains(static_cast<uint32_t>(hash & (one.first - 1)));
  });
}

}  // namespace

Result<CatalogListing> CatalogListing::Read(const ObjectStore& store, RetentionClass retention,
                                            const std::string& cluster, int64_t from_s,
                                            int64_t to_s) {
  CatalogListing listing;
  const std::string folder = CatalogPrefix(retention, cluster);
  const std::string prefix = folder + CommonTimePath(HourOf(from_s), to_s);
  // Before every key of that second, and as some servers insist, with the prefix at its beginning.
  std::string after = folder + BundleTimePath(HourOf(from_s));
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<ObjectInfo> page, store.List(prefix, after));
    for (const ObjectInfo& info : page) {
      Result<CatalogKey> key = ParseCatalogKey(info.key);
      if (!key) continue;
      if (key->start_s >= to_s) {
        std::ranges::sort(listing.all_, {}, OrderOf);
        return listing;
      }
      listing.all_.push_back({info.key, info.size, *std::move(key)});
    }
    if (page.size() < ObjectStore::kMaxListed) break;
    after = page.back().key;
  }
  std::ranges::sort(listing.all_, {}, OrderOf);
  return listing;
}

std::span<const ListedCatalog> CatalogListing::Of(int64_t start_s, int64_t seconds) const {
  const auto order = [](const ListedCatalog& one) {
    return std::pair(one.parsed.start_s, one.parsed.seconds);
  };
  const std::pair wanted(start_s, seconds);
  return {std::ranges::lower_bound(all_, wanted, {}, order),
          std::ranges::upper_bound(all_, wanted, {}, order)};
}

std::span<const ListedCatalog> CatalogListing::OfHour(int64_t hour_s) const {
  const auto hour = [](const ListedCatalog& one) { return HourOf(one.parsed.start_s); };
  return {std::ranges::lower_bound(all_, hour_s, {}, hour),
          std::ranges::upper_bound(all_, hour_s, {}, hour)};
}

bool HasAllRows(std::span<const ListedCatalog> catalogs, std::optional<uint64_t> shard_hash) {
  FoundShards found;
  for (const ListedCatalog& one : catalogs) {
    if (one.parsed.part == CatalogPart::kRows) found[one.parsed.shards].insert(one.parsed.shard);
  }
  return shard_hash ? HoldsHash(found, *shard_hash) : AreAllOf(found, 0, 1);
}

bool HoldsRows(const ListedCatalog& catalog) {
  return catalog.parsed.part != CatalogPart::kBundles;
}

size_t CountOfRows(std::span<const ListedCatalog> catalogs) {
  return static_cast<size_t>(std::ranges::count_if(catalogs, HoldsRows));
}

bool HasBundleList(std::span<const ListedCatalog> catalogs) {
  return std::ranges::any_of(
      catalogs, [](const ListedCatalog& one) { return one.parsed.part == CatalogPart::kBundles; });
}

void Replacements::Add(const CatalogHeader& header) {
  for (const std::string& key : header.replaces) by_[key].push_back({header.shards, header.shard});
}

bool Replacements::Covers(const ListedCatalog& catalog, std::optional<uint64_t> shard_hash) const {
  const auto by = by_.find(catalog.key);
  if (by == by_.end()) return false;
  FoundShards found;
  for (const auto& [shards, shard] : by->second) found[shards].insert(shard);
  return shard_hash ? HoldsHash(found, *shard_hash)
                    : AreAllOf(found, catalog.parsed.shard, catalog.parsed.shards);
}

}  // namespace firetower::store
