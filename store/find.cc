// SPDX-License-Identifier: Apache-2.0
#include "store/find.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "store/access/limited_store.h"
#include "store/capture.h"
#include "store/catalog/catalog_index.h"
#include "store/key.h"
#include "store/walk.h"

namespace firetower::store {
namespace {

class Finder {
 public:
  Finder(const ObjectStore& store, const Query& query, const QueryLimits& limits,
         SkippedList* skipped, const VisitFound& visit)
      : store_(store), query_(query), limits_(limits), skipped_(skipped), visit_(visit) {}

  Status Visit(const StoredObject& object) {
    return object.kind == ObjectKind::kCapture ? VisitCapture(object) : VisitBundle(object);
  }

 private:
  Status VisitBundle(const StoredObject& object) {
    // The listing knows how large it is.
    Result<BundleIndex> index = ReadBundleIndex(object.size, [&](uint64_t offset, uint64_t length) {
      return store_.GetRange(object.key, offset, length);
    });
    if (!index) return Skip(object, index.error());
    for (const BadEntry& bad : index->bad_entries) {
      skipped_->AddDamaged(object.key, bad.name, bad.reason);
    }
    for (const BundleEntry& entry : index->entries) {
      RETURN_IF_ERROR(Found(
          {.key = &object.key, .entry = &entry, .object_bytes = object.size, .row = &entry.row}));
    }
    return OkStatus();
  }
  Status VisitCapture(const StoredObject& object) {
    Result<CatalogRow> row = ReadCaptureRow(store_, object.key, object.size);
    if (!row) return Skip(object, row.error());
    return Found({.key = &object.key, .object_bytes = object.size, .row = &*row});
  }
  Status Skip(const StoredObject& object, const Error& error) {
    RETURN_IF_ERROR(CheckLimits(limits_.calls));
    // Retention may delete between listing and reading: that is no damage.
    if (error.code() != ErrorCode::kNotFound) skipped_->AddUnread(object.key, error);
    return OkStatus();
  }
  Status Found(const FoundProfile& found) {
    if (!IsAsked(query_, *found.row)) return OkStatus();
    if (++rows_ > limits_.max_rows) return TooManyRows(limits_.max_rows);
    return visit_(found);
  }

  const ObjectStore& store_;
  const Query& query_;
  const QueryLimits& limits_;
  SkippedList* skipped_;
  const VisitFound& visit_;
  uint64_t rows_ = 0;
};

// Returns the filter by keys of captures that a query implies.
CaptureFilter CapturesOf(const Query& query) {
  const auto component = [&](std::string_view label) {
    const std::optional<std::string> value = query.EqualTo(label);
    return value ? ToKeyComponent(*value) : std::string();
  };
  CaptureFilter filter{.namespace_component = component("namespace"),
                       .pod_component = component("pod"),
                       .container_component = component("container")};
  std::optional<profile::ProfileType> type = query.type;
  for (const char* label : {"__name__", "type"}) {
    if (const std::optional<std::string> name = query.EqualTo(label); !type && name) {
      if (Result<profile::ProfileType> parsed = profile::ParseProfileType(*name))
        type = *std::move(parsed);
    }
  }
  if (type) filter.types = {type->Name(), type->FileToken()};
  return filter;
}

// `range` holds what the query does not say.
Status FindIn(const ObjectStore& store, WalkRange range, const Query& query,
              const QueryLimits& limits, SkippedList* skipped, const VisitFound& visit) {
  range.from_s = query.from_ns / kNsPerSecond;
  range.to_s = query.to_ns / kNsPerSecond + 1;
  range.captures = CapturesOf(query);
  const std::unique_ptr<const ObjectStore> limited = store.Limited(limits.calls);
  Finder finder(*limited, query, limits, skipped, visit);
  return WalkObjects(*limited, range,
                     [&](const StoredObject& object) { return finder.Visit(object); });
}

}  // namespace

Result<std::string> FoundProfile::Read(const ObjectStore& store) const {
  return entry == nullptr ? store.Get(*key) : ReadBundleEntry(store, *key, *entry);
}

bool IsAsked(const Query& query, const CatalogRow& row) {
  if (query.type && row.type != query.type->Name()) return false;
  if (!row.Overlaps(query.from_ns, query.to_ns)) return false;
  const auto value_of = [&](std::string_view label) { return LabelValueOf(row, label); };
  if (!query.selector.Matches(value_of)) return false;
  return query.any_of.empty() ||
         std::ranges::any_of(query.any_of, [&](const profile::Selector& selector) {
           return selector.Matches(value_of);
         });
}

Error TooManyRows(uint64_t most) {
  return {ErrorCode::kExhausted,
          fmt::format("more than {} profiles match: narrow the selector or the time range", most)};
}

Status FindProfiles(const ProfileSource& source, const Query& query, const QueryLimits& limits,
                    Resolution resolution, SkippedList* skipped, const VisitFound& visit) {
  if (query.from_ns >= query.to_ns) {
    return Error(ErrorCode::kInvalid, "the time range is empty: from must lie before to");
  }
  if (source.index() != nullptr)
    return source.index()->Find(query, limits, resolution, skipped, visit);
  return FindIn(source.store(), {.kinds = kProfileKinds}, query, limits, skipped, visit);
}

Status FindCaptures(const ObjectStore& store, std::vector<StoredCluster> clusters,
                    const Query& query, const QueryLimits& limits, SkippedList* skipped,
                    const VisitFound& visit) {
  constexpr auto kCaptures = static_cast<unsigned>(ObjectKind::kCapture);
  return FindIn(store, {.clusters = std::move(clusters), .kinds = kCaptures}, query, limits,
                skipped, visit);
}

Result<SeriesSums> SeriesSums::Create(const Query& query, int64_t step_ns,
                                      std::span<const std::string> group_by, RowValue value) {
  if (step_ns < kMinStepNs) {
    return Error(ErrorCode::kInvalid, fmt::format("a step of {} ns: at least 1 s", step_ns));
  }
  SeriesSums sums;
  sums.from_ns_ = query.from_ns;
  sums.to_ns_ = query.to_ns;
  sums.step_ns_ = step_ns;
  sums.value_ = value;
  sums.counted_.emplace(query);
  sums.group_by_.assign(group_by.begin(), group_by.end());
  return sums;
}

Status SeriesSums::Add(const CatalogRow& row) {
  std::vector<std::string> group;
  for (const std::string& label : group_by_) group.push_back(LabelValueOf(row, label));
  std::map<int64_t, double>& points = sums_[std::move(group)];
  size_t before = points.size();
  const bool is_main = value_ == RowValue::kMain;
  const auto value = static_cast<double>(is_main ? counted_->Value(row) : counted_->Samples(row));
  int64_t first = std::max(row.start_ns, from_ns_);
  int64_t last = std::min(row.end_ns(), to_ns_);
  if (row.duration_ns == 0) points[first / step_ns_ * step_ns_] += value;
  for (int64_t at = first; at < last;) {
    int64_t step = at / step_ns_ * step_ns_;
    int64_t end = std::min(last, step + step_ns_);
    points[step] += value * static_cast<double>(end - at) / static_cast<double>(row.duration_ns);
    at = end;
  }
  points_ += points.size() - before;
  if (points_ > kMaxPoints) {
    return Error(
        ErrorCode::kExhausted,
        fmt::format("more than {} points: take a longer step or fewer labels", kMaxPoints));
  }
  return OkStatus();
}

std::vector<Series> SeriesSums::Finish() && {
  std::vector<Series> all;
  for (const auto& [group, points] : sums_) {
    Series series;
    for (size_t i = 0; i < group_by_.size(); ++i) series.labels[group_by_[i]] = group[i];
    for (auto [start_ns, value] : points) series.points.push_back({start_ns, value});
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace firetower::store
