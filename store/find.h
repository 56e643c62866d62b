// SPDX-License-Identifier: Apache-2.0
// The inner part of query.h: finds stored profiles one at a time, and sums rows over time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/bundle.h"
#include "store/profiles/counted_part.h"
#include "store/query.h"
#include "store/walk.h"

namespace firetower::store {

// One stored profile; valid during the call that receives it.
struct FoundProfile {
  const std::string* key = nullptr;
  const BundleEntry* entry = nullptr;  // null: a capture
  uint64_t object_bytes = 0;
  const CatalogRow* row = nullptr;

  uint64_t bytes() const { return entry == nullptr ? object_bytes : entry->size; }
  Result<std::string> Read(const ObjectStore& store) const;
};

bool IsAsked(const Query& query, const CatalogRow& row);

// Calls `visit` for each stored profile of the answer until one fails. Unreadable ones go to
// `skipped`. kInvalid: an empty time range. kExhausted: past limits.max_rows.
Status FindProfiles(const ProfileSource& source, const Query& query, const QueryLimits& limits,
                    Resolution resolution, SkippedList* skipped, const VisitFound& visit);
// Finds captures, which no index holds.
Status FindCaptures(const ObjectStore& store, std::vector<StoredCluster> clusters,
                    const Query& query, const QueryLimits& limits, SkippedList* skipped,
                    const VisitFound& visit);
Error TooManyRows(uint64_t most);

// Adds up rows by step and by the values of some labels.
class SeriesSums {
 public:
  static constexpr int64_t kMinStepNs = 1'000'000'000;
  static constexpr size_t kMaxPoints = 1'000'000;  // over all series

  static Result<SeriesSums> Create(const Query& query, int64_t step_ns,
                                   std::span<const std::string> group_by,
                                   RowValue value = RowValue::kMain);
  Status Add(const CatalogRow& row);
  std::vector<Series> Finish() &&;

 private:
  SeriesSums() = default;
  int64_t from_ns_ = 0;
  int64_t to_ns_ = 0;
  int64_t step_ns_ = 0;
  RowValue value_ = RowValue::kMain;
  std::optional<CountedPart> counted_;
  std::vector<std::string> group_by_;
  std::map<std::vector<std::string>, std::map<int64_t, double>> sums_;
  size_t points_ = 0;
};

}  // namespace firetower::store
