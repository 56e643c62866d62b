// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/catalog_keeper.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "store/catalog/catalog_cache.h"
#include "store/catalog/keeper/catalog_merge.h"

namespace firetower::store {
namespace {

constexpr int64_t kKinds[] = {kWindowsSeconds, kShortRollUpSeconds, kHourSeconds};

// The intervals of a kind that begin in an hour.
std::vector<CatalogInterval> IntervalsOf(const StoredCluster& at, int64_t hour_s, int64_t kind) {
  std::vector<CatalogInterval> intervals;
  for (int64_t start = hour_s; start < hour_s + kHourSeconds; start += kind)
    intervals.push_back({at.retention, at.cluster, start, kind});
  return intervals;
}

std::span<const ListedCatalog> CatalogsOf(const CatalogInterval& interval,
                                          const CatalogListing& listing) {
  return listing.Of(interval.start_s, interval.seconds);
}

// Its catalog was written to the end. The rows of an hour's roll-ups by themselves are never all of
// that hour's catalog.
bool IsDone(const CatalogInterval& interval, const CatalogListing& listing) {
  const std::span<const ListedCatalog> catalogs = CatalogsOf(interval, listing);
  return HasAllRows(catalogs) && HasBundleList(catalogs);
}

bool IsHoursOwn(const ListedCatalog& one) {
  return one.parsed.seconds == kHourSeconds && one.parsed.part == CatalogPart::kRows;
}

bool HasLateRows(std::span<const ListedCatalog> catalogs) {
  return std::ranges::any_of(
      catalogs, [](const ListedCatalog& one) { return one.parsed.part == CatalogPart::kLateRows; });
}

// Returns the catalogs of intervals whose rows exist. A list of bundles without rows (somebody
// deleted them) proves nothing, and late rows alone are not complete. Catalogs of a whole hour are
// kept for their late rows, because the roll-ups of that hour have no others.
std::vector<ListedCatalog> WithRows(const CatalogListing& listing) {
  std::vector<ListedCatalog> kept;
  for (const ListedCatalog& one : listing.all()) {
    const std::span<const ListedCatalog> beside =
        listing.Of(one.parsed.start_s, one.parsed.seconds);
    if (one.parsed.seconds == kHourSeconds ? HasLateRows(beside) : HasAllRows(beside))
      kept.push_back(one);
  }
  return kept;
}

// Rows of the hour beside its own catalog.
bool HasOthers(const CatalogListing& listing, int64_t hour_s) {
  return std::ranges::any_of(listing.OfHour(hour_s), [](const ListedCatalog& one) {
    return HoldsRows(one) && !IsHoursOwn(one);
  });
}

void Keep(Status& first, Status next) {
  if (first && !next) first = std::move(next);
}

}  // namespace

Status CatalogKeeper::Look(bool leads) {
  const Result<std::vector<StoredCluster>> clusters = ListClusters(store_, options_.cluster);
  Status first = clusters ? OkStatus() : Status(clusters.error());
  for (const StoredCluster& at : clusters ? *clusters : std::vector<StoredCluster>()) {
    Keep(first, LookAt(at, leads));
    if (!leads) continue;
    Keep(first, KeepRecentHours(at));
    Keep(first, RebuildOldHours(at));
    Keep(first, FindLateUploads(at));
  }
  DistrustUnwatchedRows();
  if (!clusters) return first;
  const int64_t kept_s = NowSeconds() - 3 * kHourSeconds;
  recent_.ForgetMarks(kept_s);
  // The leader looks further back and writes these rows. Other rows belong to deleted bundles.
  const int64_t held_s = kept_s - (leads ? options_.late_hours * kHourSeconds : 0);
  for (const CatalogInterval& interval : recent_.Intervals()) {
    if (interval.end_s() < held_s) recent_.Drop(interval);
  }
  std::erase_if(done_since_ns_, [&](const auto& one) {
    return std::get<int64_t>(one.first) < kept_s - options_.late_hours * kHourSeconds;
  });
  std::erase_if(arrivals_, [&](const auto& one) { return one.first.end_s() < kept_s; });
  return first;
}

// An answer from memory lacks the bundles that came since the last look. That is accepted for the
// time of two looks, no longer.
void CatalogKeeper::DistrustUnwatchedRows() {
  const int64_t oldest_ns = clock_.MonotonicNs() - options_.trust_look_s * kNsPerSecond;
  for (const auto& [at, looked_ns] : looked_ns_) {
    if (looked_ns < oldest_ns) recent_.ForgetMarksOf(at.first, at.second);
  }
}

Status CatalogKeeper::LookAt(const StoredCluster& at, bool leads) {
  // Includes the current hour, and one more hour while the catalogs that it replaces are kept.
  const int64_t ahead_s = NowSeconds() + options_.ahead_s;
  const int64_t last_s = HourOf(ahead_s);
  const int64_t first_s = std::max<int64_t>(
      HourOf(NowSeconds() - kHourSeconds - options_.close_hour_s - options_.keep_replaced_s), 0);
  ASSIGN_OR_RETURN(
      const CatalogListing listing,
      CatalogListing::Read(store_, at.retention, at.cluster, first_s, last_s + kHourSeconds));
  const auto is_done = [&](int64_t hour_s) { return HasAllRows(listing.Of(hour_s, kHourSeconds)); };
  for (const int64_t kind : kKinds) {
    std::vector<CatalogInterval> open;
    for (int64_t hour_s = first_s; hour_s <= last_s; hour_s += kHourSeconds) {
      for (CatalogInterval& interval : IntervalsOf(at, hour_s, kind)) {
        if (is_done(hour_s) || IsDone(interval, listing))
          RETURN_IF_ERROR(DropKnown(interval, listing));
        else if (interval.start_s <= ahead_s)
          open.push_back(std::move(interval));
      }
    }
    if (!open.empty()) RETURN_IF_ERROR(UpdateOpenIntervals(at, listing, open, leads));
  }
  looked_ns_[{at.retention, at.cluster}] = clock_.MonotonicNs();
  for (int64_t hour_s = first_s; leads && hour_s <= last_s; hour_s += kHourSeconds) {
    if (is_done(hour_s))
      RETURN_IF_ERROR(DeleteReplaced(at, listing, hour_s));
    else if (IsOver(hour_s) && HasAny(at, listing, hour_s))
      RETURN_IF_ERROR(KeepHour(at, hour_s));
  }
  return OkStatus();
}

// After the look at the open intervals, all bundles of an hour without a catalog are in the listing
// or in memory.
bool CatalogKeeper::HasAny(const StoredCluster& at, const CatalogListing& listing,
                           int64_t hour_s) const {
  const std::vector<CatalogInterval> held = recent_.Intervals();
  return !listing.OfHour(hour_s).empty() ||
         std::ranges::any_of(held, [&](const CatalogInterval& one) {
           return one.retention == at.retention && one.cluster == at.cluster &&
                  HourOf(one.start_s) == hour_s;
         });
}

Status CatalogKeeper::DropKnown(const CatalogInterval& interval, const CatalogListing& listing) {
  const std::vector<std::string> bundles = recent_.BundlesOf(interval);
  if (bundles.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const KnownBundles known, intervals_.ReadKnown(CatalogsOf(interval, listing)));
  // Late rows stay in memory until they are written too.
  if (known.HoldsAll(bundles)) recent_.Drop(interval, CountOfRows(CatalogsOf(interval, listing)));
  return OkStatus();
}

Status CatalogKeeper::UpdateOpenIntervals(const StoredCluster& at, const CatalogListing& listing,
                                          const std::vector<CatalogInterval>& open, bool leads) {
  std::vector<ListedCatalog> catalogs;
  for (const CatalogInterval& interval : open) {
    const std::span<const ListedCatalog> of = CatalogsOf(interval, listing);
    // A list of bundles alone proves nothing: somebody may have deleted the rows.
    if (HasAllRows(of) || HasLateRows(of)) catalogs.insert(catalogs.end(), of.begin(), of.end());
  }
  ASSIGN_OR_RETURN(const KnownBundles known, intervals_.ReadKnown(catalogs));
  const auto is_open = [&](const CatalogInterval& interval) {
    return std::ranges::binary_search(open, interval);
  };
  const Status read = intervals_.ReadNew(at, open[0].seconds, open.front().start_s,
                                         open.back().end_s(), is_open, known, leads);
  for (const CatalogInterval& interval : open)
    recent_.MarkWhole(interval, read.has_value(), CountOfRows(CatalogsOf(interval, listing)));
  RETURN_IF_ERROR(read);
  for (const CatalogInterval& interval : open) {
    if (IsDue(interval) && leads) RETURN_IF_ERROR(intervals_.Write(interval, /*late=*/false));
  }
  return OkStatus();
}

// An hour's roll-ups wait for the hour's own catalog. Other intervals are closed for late bundles,
// until the hour is over, as soon as they have a catalog: where more came since the last look, as
// after an outage of the store, that waits until no more comes.
bool CatalogKeeper::IsDue(const CatalogInterval& interval) {
  const int64_t now_ns = clock_.MonotonicNs();
  const size_t rows = recent_.RowsOf(interval);
  const auto [seen, is_first] = arrivals_.try_emplace(interval, Arrival{.rows = rows});
  if (rows > seen->second.rows) seen->second = {.rows = rows, .last_ns = now_ns};
  if (interval.seconds == kHourSeconds || interval.end_s() + options_.close_s > NowSeconds())
    return false;
  const std::optional<int64_t>& last_ns = seen->second.last_ns;
  return !last_ns || *last_ns + options_.close_s * kNsPerSecond <= now_ns ||
         IsOver(HourOf(interval.start_s));
}

Status CatalogKeeper::KeepRecentHours(const StoredCluster& at) {
  LookBack& back = look_backs_[{at.retention, at.cluster}];
  const int64_t now_ns = clock_.MonotonicNs();
  if (back.next == 1 && back.begun_ns != 0 &&
      now_ns < back.begun_ns + options_.look_back_every_s * kNsPerSecond) {
    return OkStatus();
  }
  // One hour a round: a whole day would keep the next round waiting.
  if (back.next == 1) back.begun_ns = now_ns;
  const int64_t hour_s = HourOf(NowSeconds()) - back.next * kHourSeconds;
  back.next = back.next % options_.late_hours + 1;
  if (hour_s < 0 || !IsOver(hour_s)) return OkStatus();
  RETURN_IF_ERROR(KeepHour(at, hour_s));
  ASSIGN_OR_RETURN(
      const CatalogListing listing,
      CatalogListing::Read(store_, at.retention, at.cluster, hour_s, hour_s + kHourSeconds));
  return DeleteReplaced(at, listing, hour_s);
}

Status CatalogKeeper::RebuildOldHours(const StoredCluster& at) {
  OldPass& pass = old_passes_[{at.retention, at.cluster}];
  if (pass.next_s >= pass.end_s) {
    const int64_t now_ns = clock_.MonotonicNs();
    if (now_ns < pass.due_ns) return OkStatus();
    pass = {.end_s = HourOf(NowSeconds()) - options_.late_hours * kHourSeconds,
            .due_ns = now_ns + options_.old_every_s * kNsPerSecond,
            .is_first = pass.end_s == 0};
  }
  ASSIGN_OR_RETURN(const int64_t hour_s, NextHourWithBundles(at, pass.next_s, pass.end_s));
  // A day's catalogs are a page or a few.
  const int64_t to_s = std::min(hour_s + 24 * kHourSeconds, pass.end_s);
  pass.next_s = hour_s;
  if (hour_s == pass.end_s) return OkStatus();
  ASSIGN_OR_RETURN(const CatalogListing listing,
                   CatalogListing::Read(store_, at.retention, at.cluster, hour_s, to_s));
  const auto is_done = [&] { return HasAllRows(listing.Of(pass.next_s, kHourSeconds)); };
  for (; pass.next_s < to_s && is_done(); pass.next_s += kHourSeconds) {
    // Deletes the catalogs that the previous pass merged into this hour.
    if (!pass.is_first) RETURN_IF_ERROR(DeleteReplacedIn(listing, pass.next_s));
  }
  // A later one may be without bundles.
  if (pass.next_s != hour_s) return OkStatus();
  // One that cannot be kept does not keep the others waiting.
  pass.next_s += kHourSeconds;
  return KeepHour(at, hour_s);
}

Status CatalogKeeper::FindLateUploads(const StoredCluster& at) {
  LatePass& pass = late_passes_[{at.retention, at.cluster}];
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < pass.due_ns) return OkStatus();
  pass.due_ns = now_ns + options_.old_late_every_s * kNsPerSecond;
  if (pass.next_s < pass.first_s) {
    const int64_t end_s = HourOf(NowSeconds()) - options_.late_hours * kHourSeconds;
    ASSIGN_OR_RETURN(pass.first_s, NextHourWithBundles(at, 0, end_s));
    pass.next_s = end_s - kHourSeconds;
    if (pass.next_s < pass.first_s) return OkStatus();
  }
  // One that cannot be kept does not keep the others waiting.
  const int64_t hour_s = std::exchange(pass.next_s, pass.next_s - kHourSeconds);
  return KeepHour(at, hour_s);
}

Result<int64_t> CatalogKeeper::NextHourWithBundles(const StoredCluster& at, int64_t from_s,
                                                   int64_t end_s) const {
  int64_t next_s = end_s;
  for (const int64_t kind : kKinds) {
    ASSIGN_OR_RETURN(const std::optional<int64_t> first_s,
                     intervals_.FirstStart(at, kind, from_s, next_s));
    if (first_s) next_s = HourOf(*first_s);
  }
  return next_s;
}

Status CatalogKeeper::Rebuild(int64_t from_s, int64_t to_s) {
  ASSIGN_OR_RETURN(const std::vector<StoredCluster> clusters,
                   ListClusters(store_, options_.cluster));
  for (const StoredCluster& at : clusters) {
    for (int64_t hour_s = HourOf(std::max<int64_t>(from_s, 0)); hour_s < to_s && IsOver(hour_s);
         hour_s += kHourSeconds) {
      RETURN_IF_ERROR(KeepHour(at, hour_s));
    }
  }
  return OkStatus();
}

Status CatalogKeeper::KeepHour(const StoredCluster& at, int64_t hour_s) {
  // Rebuilds damaged catalogs from bundles; the same damage twice is the store's own.
  constexpr int kTries = 2;
  Status kept;
  for (int i = 0; i < kTries; ++i) {
    std::vector<std::string> damaged;
    kept = KeepHourOnce(at, hour_s, damaged);
    if (damaged.empty()) return kept;
  }
  return kept;
}

Status CatalogKeeper::KeepHourOnce(const StoredCluster& at, int64_t hour_s,
                                   std::vector<std::string>& damaged) {
  const auto list = [&] {
    return CatalogListing::Read(store_, at.retention, at.cluster, hour_s, hour_s + kHourSeconds);
  };
  ASSIGN_OR_RETURN(CatalogListing listing, list());
  const CatalogInterval hour{at.retention, at.cluster, hour_s, kHourSeconds};
  const bool done = HasAllRows(CatalogsOf(hour, listing));
  ASSIGN_OR_RETURN(const KnownBundles known,
                   intervals_.ReadKnown(done ? listing.all() : WithRows(listing)));
  for (const int64_t kind : kKinds) {
    ASSIGN_OR_RETURN(const std::optional<int64_t> first_s,
                     intervals_.FirstStart(at, kind, hour_s, hour_s + kHourSeconds));
    if (!first_s) continue;
    // One interval after another: a whole hour's rows are too many.
    for (const CatalogInterval& interval : IntervalsOf(at, hour_s, kind)) {
      RETURN_IF_ERROR(intervals_.ReadNew(
          at, kind, interval.start_s, interval.end_s(), [](const auto&) { return true; }, known,
          /*may_write=*/true));
      const bool late = done || kind == kHourSeconds || IsDone(interval, listing);
      RETURN_IF_ERROR(intervals_.Write(interval, late));
    }
  }
  if (done) return OkStatus();
  ASSIGN_OR_RETURN(listing, list());
  std::vector<ListedCatalog> inputs;
  for (const ListedCatalog& one : listing.all()) {
    // A part of the hour's own catalog was left by a process that was killed.
    if (HoldsRows(one) && !IsHoursOwn(one)) inputs.push_back(one);
  }
  if (inputs.empty()) return OkStatus();
  const Status merged = MergeCatalogs(store_, hour, inputs, damaged);
  if (!damaged.empty()) RETURN_IF_ERROR(Forget(damaged, listing));
  RETURN_IF_ERROR(merged);
  ++figures_.hours_merged;
  LOG(kInfo, "an hour's catalog is written",
      {{"cluster", at.cluster}, {"hour", HourPath(hour_s)}, {"of", inputs.size()}});
  return OkStatus();
}

// Deletes the lists of bundles too, so that the bundles count as new.
Status CatalogKeeper::Forget(const std::vector<std::string>& damaged,
                             const CatalogListing& listing) {
  std::set<std::pair<int64_t, int64_t>> intervals;
  for (const std::string& key : damaged) {
    LOG(kWarn, "a catalog is damaged: it is written again", {{"key", key}});
    ++figures_.damaged_catalogs;
    RETURN_IF_ERROR(store_.Delete(key));
    ASSIGN_OR_RETURN(const CatalogKey parsed, ParseCatalogKey(key));
    intervals.insert({parsed.start_s, parsed.seconds});
  }
  for (const auto& [start_s, seconds] : intervals) {
    for (const ListedCatalog& one : listing.Of(start_s, seconds)) {
      if (!HoldsRows(one)) RETURN_IF_ERROR(store_.Delete(one.key));
    }
  }
  return OkStatus();
}

Status CatalogKeeper::DeleteReplaced(const StoredCluster& at, const CatalogListing& listing,
                                     int64_t hour_s) {
  if (!HasAllRows(listing.Of(hour_s, kHourSeconds))) return OkStatus();
  const int64_t now_ns = clock_.MonotonicNs();
  const auto [since, first_time] =
      done_since_ns_.try_emplace(Hour(at.retention, at.cluster, hour_s), now_ns);
  if (first_time || now_ns < since->second + options_.keep_replaced_s * kNsPerSecond)
    return OkStatus();
  if (!HasOthers(listing, hour_s)) return OkStatus();
  // From now on once an hour: the remaining ones came late, and nothing replaces them.
  since->second = now_ns;
  return DeleteReplacedIn(listing, hour_s);
}

Status CatalogKeeper::DeleteReplacedIn(const CatalogListing& listing, int64_t hour_s) {
  if (!HasOthers(listing, hour_s)) return OkStatus();
  const std::span<const ListedCatalog> catalogs = listing.OfHour(hour_s);
  Replacements replaced;
  for (const ListedCatalog& one : catalogs) {
    if (!IsHoursOwn(one)) continue;
    const Result<CatalogFile> file = CatalogFile::Open(one.size, ReaderOf(store_, one.key));
    // Keeps the catalogs that a damaged one replaces.
    if (file) replaced.Add(file->header());
  }
  for (const ListedCatalog& one : catalogs) {
    if (!HoldsRows(one) || IsHoursOwn(one) || !replaced.Covers(one)) continue;
    RETURN_IF_ERROR(store_.Delete(one.key));
    ++figures_.catalogs_deleted;
  }
  return OkStatus();
}

}  // namespace firetower::store
