// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/access/limited_store.h"
#include "store/catalog/interval.h"
#include "store/catalog/resolution.h"
#include "store/find.h"
#include "store/walk.h"

namespace firetower::store {
namespace {

// A stretch of time, of the starts of windows, in Unix seconds.
struct Stretch {
  int64_t from_s = 0;
  int64_t to_s = 0;
};

// Returns the stretches of [from_s, to_s) that `covered` leaves open.
std::vector<Stretch> GapsBetween(std::vector<Stretch> covered, int64_t from_s, int64_t to_s) {
  std::ranges::sort(covered, {}, &Stretch::from_s);
  std::vector<Stretch> gaps;
  for (const Stretch& one : covered) {
    if (one.from_s > from_s && from_s < to_s) gaps.push_back({from_s, std::min(one.from_s, to_s)});
    from_s = std::max(from_s, one.to_s);
  }
  if (from_s < to_s) gaps.push_back({from_s, to_s});
  return gaps;
}

std::string TimeText(int64_t unix_s) {
  const int64_t seconds = unix_s % 86'400;
  return fmt::format("{}T{:02}:{:02}:{:02}Z", DateOf(unix_s), seconds / kHourSeconds,
                     seconds % kHourSeconds / 60, seconds % 60);
}

bool IsAway(const Error& error) { return error.code() == ErrorCode::kNotFound; }

// Entries found for one query, each once.
class Found {
 public:
  Found(const Query& query, const QueryLimits& limits, Resolution resolution,
        const CatalogIndexOptions& options, int64_t now_s)
      : query_(query),
        limits_(limits),
        resolution_(resolution),
        cluster_(options.cluster),
        retention_(options.retention),
        now_s_(now_s) {}

  Status Take(const CatalogEntry& one) {
    if (!IsAsked(query_, one.entry.row)) return OkStatus();
    Result<BundleKey> key = ParseBundleKey(one.bundle);
    if (!key) {
      Skip(one.bundle, one.entry.name, key.error().message());
      return OkStatus();
    }
    if (key->rolled_up && resolution_ == Resolution::kWindows) return OkStatus();
    if (IsOthers(*key) || IsPast(*key)) return OkStatus();
    entries_.push_back(std::make_unique<FoundEntry>(FoundEntry{one, *std::move(key)}));
    // Two catalogs may hold the same.
    if (entries_.size() <= limits_.max_rows) return OkStatus();
    SortOut();
    return entries_.size() <= limits_.max_rows ? OkStatus() : Status(TooManyRows(limits_.max_rows));
  }
  void Skip(std::string key, std::string entry, std::string reason) {
    skipped_.insert({std::move(key), std::move(entry), std::move(reason)});
  }
  // The index of a bundle.
  void SkipUnread(std::string key, const Error& error) {
    if (!IsDamage(error)) not_given_.insert(key);
    Skip(std::move(key), "", error.message());
  }
  void Skip(const Unreadable& one) {
    const Result<BundleKey> key = ParseBundleKey(one.bundle);
    if (!key || !IsOthers(*key)) skipped_.insert(one);
  }

  FoundEntries Entries() && {
    SortOut();
    if (resolution_ != Resolution::kWindows)
      entries_ = ChooseResolution(std::move(entries_), query_.from_ns, query_.to_ns);
    for (const auto& found : entries_) {
      BundleEntry& entry = found->one.entry;
      if (entry.name.empty()) entry.name = BundleEntryName(entry.row);
    }
    return std::move(entries_);
  }
  void TellSkipped(SkippedList* skipped) const {
    for (const Unreadable& one : skipped_) {
      if (not_given_.contains(one.bundle))
        skipped->AddLacked(one.bundle, one.entry, one.reason);
      else
        skipped->AddDamaged(one.bundle, one.entry, one.reason);
    }
  }

 private:
  // Rows in memory may be of all clusters, and a catalog may say anything.
  bool IsOthers(const BundleKey& key) const { return cluster_ && key.cluster != *cluster_; }
  bool IsPast(const BundleKey& key) const {
    const int64_t keep_s = retention_.SecondsOf(key.retention);
    return keep_s > 0 && key.start_s + key.seconds < now_s_ - keep_s;
  }
  static auto PlaceIn(const std::unique_ptr<FoundEntry>& found) {
    return std::tie(found->one.bundle, found->one.entry.header_offset);
  }
  void SortOut() {
    std::ranges::sort(entries_, {}, PlaceIn);
    const auto is_same = [](const auto& a, const auto& b) { return PlaceIn(a) == PlaceIn(b); };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), is_same), entries_.end());
  }

  const Query& query_;
  const QueryLimits& limits_;
  const Resolution resolution_;
  const std::optional<std::string>& cluster_;
  const RetentionPolicy& retention_;
  const int64_t now_s_;
  FoundEntries entries_;
  std::set<Unreadable> skipped_;
  std::set<std::string> not_given_;  // of these, by the store
};

struct Parts {
  const ObjectStore& store;
  const RecentRows* recent;
  CatalogCache& cache;
  const CatalogIndexOptions& options;
  const CallLimits& calls;  // the store's
};

// The intervals whose rows were already taken from memory.
struct InMemory {
  std::map<CatalogInterval, size_t> whole = {};  // with the catalogs of rows that it rests on
  uint64_t added = 0;  // RecentRows::added() before: of what comes meanwhile nobody knows
};

// The catalogs of one class and cluster, for one question.
class ClusterSearch {
 public:
  ClusterSearch(const Parts& parts, const Query& query, Resolution resolution,
                const StoredCluster& at, Found& found)
      : parts_(parts),
        resolution_(resolution),
        at_(at),
        found_(found),
        from_s_(query.from_ns / kNsPerSecond),
        first_s_(std::max<int64_t>(from_s_ - kMaxWindowSeconds, 0)),
        to_s_(std::min((query.to_ns - 1) / kNsPerSecond + 1, kMaxStartSeconds + 1)),
        filter_{query.EqualTo("namespace"), query.EqualTo("workload"), query.EqualTo("pod")} {
    if (filter_.namespace_name && filter_.workload)
      shard_hash_ = ShardHash(*filter_.namespace_name, *filter_.workload);
  }

  // kNotFound when a catalog went meanwhile.
  Status Search(const InMemory& in_memory) {
    ASSIGN_OR_RETURN(
        const CatalogListing listing,
        CatalogListing::Read(parts_.store, at_.retention, at_.cluster, HourOf(first_s_), to_s_));
    // Hours first: they say what need not be read beside them.
    for (const bool hours : {true, false}) {
      for (const ListedCatalog& one : listing.all()) {
        if (IsHour(one) == hours) RETURN_IF_ERROR(ReadCatalog(one));
      }
    }
    Cover(listing);
    for (const auto& [one, catalogs] : in_memory.whole) {
      if (one.retention == at_.retention && one.cluster == at_.cluster &&
          one.seconds == kWindowsSeconds && StillHas(listing, one, catalogs)) {
        covered_.push_back({one.start_s, one.end_s()});
      }
    }
    for (const Stretch& gap : GapsBetween(std::move(covered_), first_s_, to_s_))
      RETURN_IF_ERROR(ReadBundles(gap, in_memory.added));
    return OkStatus();
  }

 private:
  static bool IsHour(const ListedCatalog& one) {
    return one.parsed.part == CatalogPart::kRows && one.parsed.seconds == kHourSeconds;
  }
  // Tells whether a catalog holds roll-ups alone.
  static bool HoldsNoWindows(const CatalogKey& key) {
    return key.seconds != kWindowsSeconds &&
           !(key.part == CatalogPart::kRows && key.seconds == kHourSeconds);
  }

  bool MayMatter(const ListedCatalog& one) const {
    const CatalogKey& key = one.parsed;
    if (key.part == CatalogPart::kBundles) return false;
    if (shard_hash_ && key.shard != (*shard_hash_ & (key.shards - 1))) return false;
    // A roll-up counts only from its beginning on.
    if (HoldsNoWindows(key) &&
        (resolution_ == Resolution::kWindows || key.start_s + key.seconds <= from_s_))
      return false;
    return key.start_s + key.seconds > first_s_ && !replaced_.Covers(one, shard_hash_);
  }

  Status ReadCatalog(const ListedCatalog& one) {
    if (!MayMatter(one)) return OkStatus();
    const Result<std::shared_ptr<const CatalogFile>> opened = parts_.cache.Open(one, parts_.store);
    if (!opened) return Damaged(one, opened.error());
    const CatalogFile& file = **opened;
    const CatalogHeader& header = file.header();
    replaced_.Add(header);
    for (const Unreadable& unreadable : header.unreadable) {
      const Result<BundleKey> key = ParseBundleKey(unreadable.bundle);
      if (key && key->start_s + key->seconds + 1 >= from_s_ && key->start_s < to_s_ &&
          (!key->rolled_up || resolution_ == Resolution::kCoarsest)) {
        found_.Skip(unreadable);
      }
    }
    const bool ended_before =
        header.start_s + header.seconds <= from_s_ && header.last_end_s <= from_s_;
    if (ended_before) return OkStatus();
    const Status read =
        file.Read(filter_, ReaderOf(parts_.store, one.key), [&](const CatalogEntry& entry) {
          // An answer's own limit is not a fault of the file.
          taken_ = found_.Take(entry);
          return taken_;
        });
    if (!taken_) return taken_;
    return read ? OkStatus() : Damaged(one, read.error());
  }

  Status Damaged(const ListedCatalog& one, const Error& error) {
    if (!IsDamage(error)) return error;
    found_.Skip(one.key, "", error.message());
    damaged_.insert({one.parsed.start_s, one.parsed.seconds});
    return OkStatus();
  }

  // Marks the intervals whose windows the catalogs hold completely.
  void Cover(const CatalogListing& listing) {
    const std::vector<ListedCatalog>& all = listing.all();
    for (size_t i = 0; i < all.size();) {
      const CatalogKey& key = all[i].parsed;
      const std::span<const ListedCatalog> group = listing.Of(key.start_s, key.seconds);
      i += group.size();
      if (key.seconds != kWindowsSeconds && key.seconds != kHourSeconds) continue;
      if (damaged_.contains({key.start_s, key.seconds}) || !HasAllRows(group, shard_hash_))
        continue;
      covered_.push_back({key.start_s, key.start_s + key.seconds});
    }
  }

  // Tells whether the catalogs still hold an interval that memory dropped (none deleted or
  // damaged).
  bool StillHas(const CatalogListing& listing, const CatalogInterval& one, size_t catalogs) const {
    return CountOfRows(listing.Of(one.start_s, one.seconds)) >= catalogs &&
           !damaged_.contains({one.start_s, one.seconds});
  }

  Status ReadBundles(const Stretch& gap, uint64_t added) {
    uint64_t read = 0;
    const auto visit = [&](const ObjectInfo& info, const BundleKey& key) -> Result<bool> {
      // A row keeps milliseconds, the key seconds.
      if (key.start_s + key.seconds + 1 < from_s_) return true;
      if (parts_.recent != nullptr && parts_.recent->Knows(IntervalOf(key), info.key, added))
        return true;
      if (++read > parts_.options.max_listed_bundles) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("there is no catalog of the time from {} to {}, which has more "
                                 "than {} bundles: ask for less time, or wait for the hub to "
                                 "write it",
                                 TimeText(gap.from_s), TimeText(gap.to_s),
                                 parts_.options.max_listed_bundles));
      }
      RETURN_IF_ERROR(ReadBundle(info));
      return true;
    };
    return WalkBundles(parts_.store, BundlePrefix(at_.retention, at_.cluster), gap.from_s, gap.to_s,
                       visit);
  }

  Status ReadBundle(const ObjectInfo& info) {
    const Result<BundleIndex> index = ReadBundleIndex(info.size, ReaderOf(parts_.store, info.key));
    if (!index) {
      RETURN_IF_ERROR(CheckLimits(parts_.calls));
      // Retention may delete between listing and reading: that is no damage.
      if (!IsAway(index.error())) found_.SkipUnread(info.key, index.error());
      return OkStatus();
    }
    for (const BadEntry& bad : index->bad_entries) found_.Skip(info.key, bad.name, bad.reason);
    for (const BundleEntry& entry : index->entries) RETURN_IF_ERROR(found_.Take({info.key, entry}));
    return OkStatus();
  }

  const Parts& parts_;
  const Resolution resolution_;
  const StoredCluster& at_;
  Found& found_;
  const int64_t from_s_;
  const int64_t first_s_;  // a window that overlaps from_s_ may begin here
  const int64_t to_s_;
  const CatalogFilter filter_;
  std::optional<uint64_t> shard_hash_;
  Replacements replaced_;
  std::set<std::pair<int64_t, int64_t>> damaged_;  // start and length
  std::vector<Stretch> covered_;
  Status taken_;
};

Status SearchAll(const Parts& parts, const Query& query, Resolution resolution,
                 const std::vector<StoredCluster>& clusters, Found& found) {
  // Memory is read before catalogs: rows that leave memory meanwhile are in a catalog by then.
  InMemory in_memory;
  if (parts.recent != nullptr) {
    in_memory = {parts.recent->WholeIntervals(), parts.recent->added()};
    RETURN_IF_ERROR(parts.recent->Find(
        query, [&](const CatalogEntry& one) { return found.Take(one); },
        [&](const Unreadable& one) { found.Skip(one); }));
  }
  for (const StoredCluster& at : clusters) {
    ClusterSearch search(parts, query, resolution, at, found);
    RETURN_IF_ERROR(search.Search(in_memory));
  }
  return OkStatus();
}

}  // namespace

Status CatalogIndex::Find(const Query& query, const QueryLimits& limits, Resolution resolution,
                          SkippedList* skipped, const VisitFound& visit) const {
  const std::unique_ptr<const ObjectStore> store = store_.Limited(limits.calls);
  const Parts parts{*store, recent_, cache_, options_, limits.calls};
  ASSIGN_OR_RETURN(const std::vector<StoredCluster> clusters,
                   ListClusters(*store, options_.cluster));
  const int64_t now_s =
      (options_.clock->WallNs() + std::min<int64_t>(store_.ClockSkewNs(), 0)) / kNsPerSecond;
  std::optional<Found> found;
  // Catalogs that others replace are deleted an hour later: a second look finds the others.
  constexpr int kLooks = 3;
  Status searched;
  for (int i = 0; i < kLooks; ++i) {
    found.emplace(query, limits, resolution, options_, now_s);
    searched = SearchAll(parts, query, resolution, clusters, *found);
    if (searched || !IsAway(searched.error())) break;
  }
  if (!searched) return searched;
  found->TellSkipped(skipped);
  const FoundEntries entries = (*std::move(found)).Entries();
  for (const auto& entry : entries) {
    const CatalogEntry& one = entry->one;
    RETURN_IF_ERROR(visit({.key = &one.bundle, .entry = &one.entry, .row = &one.entry.row}));
  }
  QueryLimits rest = limits;
  rest.max_rows -= std::min<uint64_t>(rest.max_rows, entries.size());
  return FindCaptures(store_, clusters, query, rest, skipped, visit);
}

}  // namespace firetower::store
