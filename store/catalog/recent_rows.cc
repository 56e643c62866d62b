// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/recent_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "store/find.h"

namespace firetower::store {
namespace {

// In a map: a node of it, and the text.
size_t BytesOfName(const std::string& bundle) {
  return 4 * sizeof(void*) + sizeof(std::string) + sizeof(uint64_t) + bundle.size() + 1;
}

}  // namespace

RecentRows::Held* RecentRows::HeldOf(const std::string& bundle) {
  const Result<BundleKey> key = ParseBundleKey(bundle);
  return key ? &held_[IntervalOf(*key)] : nullptr;
}

Status RecentRows::Add(const std::string& bundle, const BundleIndex& index) {
  const std::lock_guard lock(mutex_);
  if (rows_ + index.entries.size() > limits_.max_rows || Bytes() >= limits_.max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("recent rows: {} in {} bytes are held, at most {} in {}", rows_,
                             Bytes(), limits_.max_rows, limits_.max_bytes));
  }
  Held* held = HeldOf(bundle);
  if (held == nullptr) return Error(ErrorCode::kInvalid, bundle + " is no bundle");
  if (!held->bundles.emplace(bundle, added_ + 1).second) return OkStatus();
  ++added_;
  bundle_bytes_ += BytesOfName(bundle);
  CatalogEntry one{.bundle = bundle};
  for (const BundleEntry& entry : index.entries) {
    one.entry = entry;
    held->rows.push_back(packed_.Pack(one));
  }
  rows_ += index.entries.size();
  for (const BadEntry& bad : index.bad_entries) {
    if (held->unreadable.size() < CatalogHeader::kMaxUnreadable)
      held->unreadable.push_back({bundle, bad.name, bad.reason});
  }
  return OkStatus();
}

Status RecentRows::AddUnreadable(const std::string& bundle, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  Held* held = HeldOf(bundle);
  if (held == nullptr) return Error(ErrorCode::kInvalid, bundle + " is no bundle");
  if (!held->bundles.emplace(bundle, added_ + 1).second) return OkStatus();
  ++added_;
  bundle_bytes_ += BytesOfName(bundle);
  if (held->unreadable.size() < CatalogHeader::kMaxUnreadable)
    held->unreadable.push_back({bundle, "", reason});
  return OkStatus();
}

uint64_t RecentRows::added() const {
  const std::shared_lock lock(mutex_);
  return added_;
}

bool RecentRows::Knows(const CatalogInterval& interval, const std::string& bundle,
                       uint64_t upto) const {
  const std::shared_lock lock(mutex_);
  const auto held = held_.find(interval);
  if (held == held_.end()) return false;
  const auto found = held->second.bundles.find(bundle);
  return found != held->second.bundles.end() && found->second <= upto;
}

void RecentRows::MarkWhole(const CatalogInterval& interval, bool whole, size_t catalogs) {
  const std::lock_guard lock(mutex_);
  if (whole)
    whole_[interval] = catalogs;
  else
    whole_.erase(interval);
}

void RecentRows::ForgetMarks(int64_t before_s) {
  const std::lock_guard lock(mutex_);
  std::erase_if(whole_, [&](const auto& one) { return one.first.start_s < before_s; });
}

void RecentRows::ForgetMarksOf(RetentionClass retention, const std::string& cluster) {
  const std::lock_guard lock(mutex_);
  std::erase_if(whole_, [&](const auto& one) {
    return one.first.retention == retention && one.first.cluster == cluster;
  });
}

std::map<CatalogInterval, size_t> RecentRows::WholeIntervals() const {
  const std::shared_lock lock(mutex_);
  return whole_;
}

std::vector<CatalogInterval> RecentRows::Intervals() const {
  const std::shared_lock lock(mutex_);
  std::vector<CatalogInterval> intervals;
  for (const auto& [interval, held] : held_) intervals.push_back(interval);
  return intervals;
}

size_t RecentRows::RowsOf(const CatalogInterval& interval) const {
  const std::shared_lock lock(mutex_);
  const auto found = held_.find(interval);
  return found == held_.end() ? 0 : found->second.rows.size();
}

std::vector<std::string> RecentRows::BundlesOf(const CatalogInterval& interval) const {
  const std::shared_lock lock(mutex_);
  const auto found = held_.find(interval);
  if (found == held_.end()) return {};
  std::vector<std::string> bundles;
  for (const auto& [bundle, added] : found->second.bundles) bundles.push_back(bundle);
  return bundles;
}

std::vector<Unreadable> RecentRows::UnreadableOf(const CatalogInterval& interval) const {
  const std::shared_lock lock(mutex_);
  const auto found = held_.find(interval);
  return found == held_.end() ? std::vector<Unreadable>() : found->second.unreadable;
}

Status RecentRows::ForEachInOrder(
    const CatalogInterval& interval, uint32_t shards,
    const std::function<Status(const CatalogEntry& entry)>& visit) const {
  const std::shared_lock lock(mutex_);
  const auto found = held_.find(interval);
  if (found == held_.end()) return OkStatus();
  const PackedRows::Rows& rows = found->second.rows;
  for (const uint32_t index : packed_.InOrder(rows, shards))
    RETURN_IF_ERROR(visit(packed_.Unpack(rows[index])));
  return OkStatus();
}

void RecentRows::Drop(const CatalogInterval& interval, size_t catalogs) {
  const std::lock_guard lock(mutex_);
  if (const auto mark = whole_.find(interval); mark != whole_.end()) mark->second += catalogs;
  const auto found = held_.find(interval);
  if (found == held_.end()) return;
  rows_ -= found->second.rows.size();
  dropped_rows_ += found->second.rows.size() + 1;
  for (const auto& [bundle, added] : found->second.bundles) bundle_bytes_ -= BytesOfName(bundle);
  held_.erase(found);
  if (dropped_rows_ > rows_ / 2) Compact();
}

// Texts of pods that are gone stay in a table that nothing is ever taken out of.
void RecentRows::Compact() {
  PackedRows kept;
  for (auto& [interval, held] : held_) kept.Adopt(packed_, held.rows);
  packed_ = std::move(kept);
  dropped_rows_ = 0;
}

Status RecentRows::Find(const Query& query,
                        const std::function<Status(const CatalogEntry& entry)>& visit,
                        const std::function<void(const Unreadable& one)>& unreadable) const {
  const std::shared_lock lock(mutex_);
  // One look at a container is enough for all its rows; captures have a label of their own.
  const bool by_container = !query.Mentions("capture");
  std::vector<bool> refused(packed_.containers());
  const int64_t from_s = query.from_ns / kNsPerSecond - kMaxWindowSeconds;
  for (const auto& [interval, held] : held_) {
    if (interval.end_s() <= from_s || interval.start_s > query.to_ns / kNsPerSecond) continue;
    // An unreadable bundle may hold windows of the maximum length.
    for (const Unreadable& one : held.unreadable) unreadable(one);
    for (const PackedRows::Row& row : held.rows) {
      const int64_t start_ns = row.start_ms * kNsPerMs;
      if (refused[row.container] || start_ns >= query.to_ns) continue;
      if (start_ns < query.from_ns && row.end_ms() * kNsPerMs <= query.from_ns) continue;
      const CatalogEntry one = packed_.Unpack(row);
      if (IsAsked(query, one.entry.row))
        RETURN_IF_ERROR(visit(one));
      else
        refused[row.container] = by_container;
    }
  }
  return OkStatus();
}

size_t RecentRows::rows() const {
  const std::shared_lock lock(mutex_);
  return rows_;
}

size_t RecentRows::Bytes() const {
  return packed_.bytes() + rows_ * sizeof(PackedRows::Row) + bundle_bytes_;
}

size_t RecentRows::bytes() const {
  const std::shared_lock lock(mutex_);
  return Bytes();
}

}  // namespace firetower::store
