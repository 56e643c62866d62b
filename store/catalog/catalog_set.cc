// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/hash.h"
#include "profile/codec/gzip.h"
#include "store/key.h"

namespace firetower::store {
namespace {

constexpr uint32_t kMostShards = 1024;
constexpr int kGzipLevel = 6;
// 5,000 nodes have 25,000 bundles in five minutes: 3 MB.
constexpr size_t kMaxBundleListBytes = size_t{64} << 20;

std::string HashOf(std::string_view bytes) { return fmt::format("{:016x}", HashText(bytes)); }

Status Put(ObjectStore& store, CatalogKey key, const std::string& bytes) {
  key.hash = HashOf(bytes);
  ASSIGN_OR_RETURN(const std::string name, BuildKey(key));
  return store.Put(name, bytes);
}

CatalogKey KeyIn(const CatalogInterval& interval) {
  CatalogKey key;
  key.retention = interval.retention;
  key.cluster = interval.cluster;
  key.start_s = interval.start_s;
  key.seconds = interval.seconds;
  return key;
}

}  // namespace

uint32_t ShardsFor(uint64_t rows) {
  const uint64_t shards = std::bit_ceil((rows + kRowsPerShard - 1) / kRowsPerShard);
  return static_cast<uint32_t>(std::clamp<uint64_t>(shards, 1, kMostShards));
}

ShardWriters::ShardWriters(const CatalogSet& set, uint32_t first, uint32_t step,
                           std::vector<std::string> replaces)
    : set_(set), first_(first), step_(step) {
  std::ranges::sort(replaces);
  for (uint32_t shard = first; shard < set.shards; shard += step) {
    CatalogHeader header{.start_s = set.interval.start_s,
                         .seconds = set.interval.seconds,
                         .shard = shard,
                         .shards = set.shards};
    header.replaces = replaces;
    header.unreadable = set.unreadable;
    writers_.emplace_back(std::move(header));
  }
}

void ShardWriters::Add(const CatalogEntry& entry) {
  const CatalogRow& row = entry.entry.row;
  const uint32_t shard = ShardOf(row.namespace_name, row.workload, set_.shards);
  writers_[(shard - first_) / step_].Add(entry);
}

Status ShardWriters::Store(ObjectStore& store) && {
  CatalogKey key = KeyIn(set_.interval);
  key.part = set_.late ? CatalogPart::kLateRows : CatalogPart::kRows;
  key.shards = set_.shards;
  for (uint32_t i = 0; i < writers_.size(); ++i) {
    key.shard = first_ + i * step_;
    const std::string bytes = std::move(writers_[i]).Finish();
    RETURN_IF_ERROR(Put(store, key, bytes));
  }
  return OkStatus();
}

Status StoreBundleList(ObjectStore& store, const CatalogInterval& interval,
                       std::vector<std::string> bundles) {
  std::ranges::sort(bundles);
  bundles.erase(std::unique(bundles.begin(), bundles.end()), bundles.end());
  std::string lines;
  for (const std::string& bundle : bundles) lines += bundle + '\n';
  CatalogKey key = KeyIn(interval);
  key.part = CatalogPart::kBundles;
  return Put(store, key, profile::GzipCompress(lines, kGzipLevel));
}

Status ReadBundleList(const ObjectStore& store, const std::string& key,
                      std::vector<uint64_t>& hashes) {
  ASSIGN_OR_RETURN(const std::string packed, store.Get(key));
  ASSIGN_OR_RETURN(const std::string lines, profile::GzipDecompress(packed, kMaxBundleListBytes));
  for (std::string_view rest = lines; !rest.empty();) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos)
      return Error(ErrorCode::kCorrupt, key + ": a line without an end");
    hashes.push_back(HashText(rest.substr(0, end)));
    rest.remove_prefix(end + 1);
  }
  return OkStatus();
}

std::vector<Unreadable> Bounded(std::vector<Unreadable> unreadable) {
  std::ranges::sort(unreadable);
  unreadable.erase(std::unique(unreadable.begin(), unreadable.end()), unreadable.end());
  if (unreadable.size() > CatalogHeader::kMaxUnreadable)
    unreadable.resize(CatalogHeader::kMaxUnreadable);
  return unreadable;
}

}  // namespace firetower::store
