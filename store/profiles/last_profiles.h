// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "store/catalog.h"
#include "store/find.h"
#include "store/profiles/unstored.h"
#include "store/query.h"

namespace firetower::store {

// The last profile of each container in an answer, whose values of a moment (profile::IsLevel)
// count: those of containers that still run at its end. Nodes write their windows at different
// times, so that is up to two windows before the last end of all.
class LastProfiles {
 public:
  // Fails as FindProfiles does.
  static Result<LastProfiles> Find(const ProfileSource& source, const Query& query,
                                   std::span<const OpenProfile> open, const QueryLimits& limits,
                                   Resolution resolution) {
    LastProfiles last;
    SkippedList skipped;  // The answer itself tells of them.
    RETURN_IF_ERROR(
        FindProfiles(source, query, limits, resolution, &skipped, [&](const FoundProfile& found) {
          last.Note(*found.row);
          return OkStatus();
        }));
    for (const OpenProfile& one : open) {
      if (one.profile != nullptr && IsAsked(query, one.row)) last.Note(one.row);
    }
    return last;
  }

  bool Has(const CatalogRow& row) const {
    const auto found = times_.find(KeyOf(row));
    return found == times_.end() ||
           (row.end_ns() >= found->second.end_ns && StillRuns(row, found->second));
  }
  // Tells whether it is the first profile of a container that still runs at the end.
  bool IsFirst(const CatalogRow& row) const {
    const auto found = times_.find(KeyOf(row));
    return found == times_.end() ||
           (row.start_ns <= found->second.start_ns && StillRuns(row, found->second));
  }

 private:
  static constexpr int64_t kMostWindowNs = 300 * kNsPerSecond;
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  static Key KeyOf(const CatalogRow& row) {
    return {row.node, row.container_id, row.namespace_name, row.pod, row.container};
  }
  struct Times {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  bool StillRuns(const CatalogRow& row, const Times& times) const {
    return times.end_ns >= last_end_ns_ - 2 * std::min(row.duration_ns, kMostWindowNs);
  }
  void Note(const CatalogRow& row) {
    Times& times = times_.try_emplace(KeyOf(row), Times{row.start_ns, row.end_ns()}).first->second;
    times.start_ns = std::min(times.start_ns, row.start_ns);
    times.end_ns = std::max(times.end_ns, row.end_ns());
    last_end_ns_ = std::max(last_end_ns_, row.end_ns());
  }

  std::map<Key, Times> times_;
  int64_t last_end_ns_ = 0;
};

}  // namespace firetower::store
