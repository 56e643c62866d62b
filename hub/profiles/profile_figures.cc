// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/profile_figures.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "hub/exposition.h"

namespace firetower::hub {
namespace {

void AddCatalogs(const CatalogFigures& figures, std::string& out) {
  constexpr std::string_view kRounds = "firetower_hub_catalog_rounds_total";
  AddHead(out, kRounds, "counter", "Looks at the store for bundles that no catalog holds yet.");
  AddSeries(out, kRounds, R"(result="failed")", figures.failed_rounds);
  AddSeries(out, kRounds, R"(result="ok")", figures.rounds);
  constexpr std::string_view kBundles = "firetower_hub_catalog_bundles_total";
  AddHead(out, kBundles, "counter", "Bundles whose directory was read for catalogs.");
  AddSeries(out, kBundles, R"(result="ok")", figures.keeper.bundles_read);
  AddSeries(out, kBundles, R"(result="unreadable")", figures.keeper.unreadable_bundles);
  constexpr std::string_view kCatalogs = "firetower_hub_catalogs_total";
  AddHead(out, kCatalogs, "counter",
          "Catalogs: of some minutes written, merged to one of an hour, objects deleted that "
          "others replace, and damaged ones.");
  AddSeries(out, kCatalogs, R"(event="damaged")", figures.keeper.damaged_catalogs);
  AddSeries(out, kCatalogs, R"(event="deleted")", figures.keeper.catalogs_deleted);
  AddSeries(out, kCatalogs, R"(event="merged")", figures.keeper.hours_merged);
  AddSeries(out, kCatalogs, R"(event="written")", figures.keeper.catalogs_written);
}

void AddRetention(const RetentionFigures& figures, std::string& out) {
  constexpr std::string_view kSweeps = "firetower_hub_retention_sweeps_total";
  AddHead(out, kSweeps, "counter", "Sweeps that delete what is too old; the leader's.");
  AddSeries(out, kSweeps, R"(result="failed")", figures.failed_sweeps);
  AddSeries(out, kSweeps, R"(result="ok")", figures.sweeps);
  constexpr std::string_view kObjects = "firetower_hub_retention_objects_total";
  AddHead(out, kObjects, "counter", "Objects that were too old.");
  AddSeries(out, kObjects, R"(result="deleted")", figures.swept.deleted_objects);
  AddSeries(out, kObjects, R"(result="failed")", figures.swept.failed_deletions);
  AddNumber(out, "firetower_hub_retention_deleted_bytes_total", "counter",
            "Bytes of the objects that were deleted as too old.", figures.swept.deleted_bytes);
  AddNumber(out, "firetower_hub_retention_aborted_uploads_total", "counter",
            "Uploads in parts that were aborted: begun more than a day ago and never completed.",
            figures.swept.aborted_uploads);
}

}  // namespace

void AddProfileMetrics(const ProfileFigures& figures, std::string& out) {
  AddCatalogs(figures.catalogs, out);
  AddNumber(out, "firetower_hub_catalog_lag_seconds", "gauge",
            "How long ago the last look at the store that went well began: what came since then "
            "may be in no answer.",
            figures.catalog_lag_seconds);
  AddNumber(out, "firetower_hub_recent_rows", "gauge",
            "Stored profiles that no catalog holds yet: known from memory.", figures.recent_rows);
  AddNumber(out, "firetower_hub_recent_bytes", "gauge", "What that takes of memory.",
            figures.recent_bytes);
  AddRetention(figures.retention, out);
  AddNumber(out, "firetower_objectstore_clock_skew_seconds", "gauge",
            "The store's clock minus this machine's, as it told in the last ten minutes; 0 while "
            "both may be "
            "right.",
            figures.store_skew_ns / kNsPerSecond);
  constexpr std::string_view kAllowed = "firetower_hub_access_allowed";
  AddHead(out, kAllowed, "gauge",
          "Whether the hub may create such objects, as it must to know who may read profiles.");
  for (const OwnRight& right : figures.rights) {
    if (!right.allowed) continue;
    AddSeries(out, kAllowed, fmt::format(R"(resource="{}")", right.resource),
              *right.allowed ? 1 : 0);
  }
}

}  // namespace firetower::hub
