// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/interval_keeper.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "store/catalog/catalog_cache.h"
#include "store/catalog/catalog_set.h"
#include "store/query.h"

namespace firetower::store {
namespace {

std::string PrefixOf(const StoredCluster& at, int64_t kind) {
  return kind == kWindowsSeconds ? BundlePrefix(at.retention, at.cluster)
                                 : RollUpPrefix(at.retention, at.cluster, kind);
}

}  // namespace

void KnownBundles::Add(std::vector<uint64_t> hashes) {
  hashes_.insert(hashes_.end(), hashes.begin(), hashes.end());
  std::ranges::sort(hashes_);
}

bool KnownBundles::Holds(std::string_view bundle) const {
  return std::ranges::binary_search(hashes_, HashText(bundle));
}

bool KnownBundles::HoldsAll(std::span<const std::string> bundles) const {
  return std::ranges::all_of(bundles, [this](const std::string& one) { return Holds(one); });
}

Result<KnownBundles> IntervalKeeper::ReadKnown(std::span<const ListedCatalog> catalogs) {
  std::vector<uint64_t> hashes;
  for (const ListedCatalog& one : catalogs) {
    if (one.parsed.part != CatalogPart::kBundles) continue;
    const Status read = ReadBundleList(store_, one.key, hashes);
    if (read || read.error().code() == ErrorCode::kNotFound) continue;
    if (!IsDamage(read.error())) return read.error();
    ++figures_.damaged_catalogs;
    LOG(kWarn, "a catalog's list of bundles is damaged: they are read again",
        {{"key", one.key}, {"error", read.error().message()}});
  }
  KnownBundles known;
  known.Add(std::move(hashes));
  return known;
}

Result<std::optional<int64_t>> IntervalKeeper::FirstStart(const StoredCluster& at, int64_t kind,
                                                          int64_t from_s, int64_t to_s) const {
  std::optional<int64_t> start_s;
  const auto stop_at_first = [&](const ObjectInfo&, const BundleKey& key) -> Result<bool> {
    start_s = key.start_s;
    return false;
  };
  RETURN_IF_ERROR(WalkBundles(store_, PrefixOf(at, kind), from_s, to_s, stop_at_first));
  return start_s;
}

Status IntervalKeeper::ReadNew(const StoredCluster& at, int64_t kind, int64_t from_s, int64_t to_s,
                               const std::function<bool(const CatalogInterval& interval)>& wanted,
                               const KnownBundles& known, bool may_write) {
  const Status walked = WalkBundles(
      store_, PrefixOf(at, kind), from_s, to_s,
      [&](const ObjectInfo& info, const BundleKey& key) -> Result<bool> {
        const CatalogInterval interval = IntervalOf(key);
        if (!wanted(interval) || recent_.Knows(interval, info.key) || known.Holds(info.key)) {
          return true;
        }
        if (directories_.is_full()) RETURN_IF_ERROR(AddNext(may_write));
        directories_.Ask(info);
        return true;
      });
  // Takes the bundles that were listed before a listing failed, too.
  Status added;
  while (added && !directories_.empty()) added = AddNext(may_write);
  return added ? walked : added;
}

Status IntervalKeeper::AddNext(bool may_write) {
  Status added = Add(directories_.Take(), may_write);
  // Nothing behind one that has to be read again.
  if (!added) directories_.Drop();
  return added;
}

Status IntervalKeeper::Add(const DirectoryReader::Directory& read, bool may_write) {
  const std::string& bundle = read.bundle.key;
  if (!read.index) {
    const Error& error = read.index.error();
    if (error.code() == ErrorCode::kNotFound) return OkStatus();  // deleted meanwhile
    if (!IsDamage(error)) return error;
    ++figures_.unreadable_bundles;
    figures_.last_unreadable = fmt::format("{}: {}", bundle, error.message());
    LOG(kWarn, "a bundle cannot be read", {{"key", bundle}, {"error", error.message()}});
    return recent_.AddUnreadable(bundle, error.message());
  }
  ++figures_.bundles_read;
  Status added = recent_.Add(bundle, *read.index);
  if (added || added.error().code() != ErrorCode::kExhausted || !may_write) return added;
  RETURN_IF_ERROR(MakeRoom());
  added = recent_.Add(bundle, *read.index);
  if (added || added.error().code() != ErrorCode::kExhausted) return added;
  return recent_.AddUnreadable(bundle, added.error().message());
}

Status IntervalKeeper::MakeRoom() {
  std::optional<CatalogInterval> largest;
  size_t most = 0;
  for (const CatalogInterval& interval : recent_.Intervals()) {
    const size_t rows = recent_.RowsOf(interval);
    if (rows <= most) continue;
    largest = interval;
    most = rows;
  }
  // It is not all of its interval, and must not look so.
  return largest ? Write(*largest, /*late=*/true) : OkStatus();
}

Status IntervalKeeper::Write(const CatalogInterval& interval, bool late) {
  std::vector<std::string> bundles = recent_.BundlesOf(interval);
  if (bundles.empty()) return OkStatus();
  CatalogSet set{.interval = interval, .late = late};
  set.shards = ShardsFor(recent_.RowsOf(interval));
  set.unreadable = Bounded(recent_.UnreadableOf(interval));
  uint32_t shard = 0;
  std::optional<ShardWriters> writer;
  const auto finish = [&]() -> Status {
    RETURN_IF_ERROR(std::move(*writer).Store(store_));
    if (++shard < set.shards) writer.emplace(set, shard, set.shards, std::vector<std::string>());
    return OkStatus();
  };
  writer.emplace(set, shard, set.shards, std::vector<std::string>());
  const auto add = [&](const CatalogEntry& one) -> Status {
    const CatalogRow& row = one.entry.row;
    const uint32_t of = ShardOf(row.namespace_name, row.workload, set.shards);
    while (shard < of) RETURN_IF_ERROR(finish());
    writer->Add(one);
    return OkStatus();
  };
  RETURN_IF_ERROR(recent_.ForEachInOrder(interval, set.shards, add));
  while (shard < set.shards) RETURN_IF_ERROR(finish());
  RETURN_IF_ERROR(StoreBundleList(store_, interval, std::move(bundles)));
  recent_.Drop(interval, set.shards);
  ++figures_.catalogs_written;
  return OkStatus();
}

}  // namespace firetower::store
