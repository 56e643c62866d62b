// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/profile_figures.h"

#include "base/clock.h"

namespace firetower::hub {
namespace {

using service::CountPoint;
using service::MetricFamily;

constexpr auto kCounter = service::MetricKind::kCounter;
constexpr auto kGauge = service::MetricKind::kGauge;

void AddCatalogs(const CatalogFigures& figures, service::ExpositionWriter& writer) {
  writer.Family({"firetower_hub_catalog_rounds_total",
                 "Looks at the store for bundles that no catalog holds yet.",
                 kCounter,
                 {CountPoint(figures.failed_rounds, {{"result", "failed"}}),
                  CountPoint(figures.rounds, {{"result", "ok"}})}});
  writer.Family({"firetower_hub_catalog_bundles_total",
                 "Bundles whose directory was read for catalogs.",
                 kCounter,
                 {CountPoint(figures.keeper.bundles_read, {{"result", "ok"}}),
                  CountPoint(figures.keeper.unreadable_bundles, {{"result", "unreadable"}})}});
  writer.Family({"firetower_hub_catalogs_total",
                 "Catalogs: of some minutes written, merged to one of an hour, objects deleted "
                 "that others replace, and damaged ones.",
                 kCounter,
                 {CountPoint(figures.keeper.damaged_catalogs, {{"event", "damaged"}}),
                  CountPoint(figures.keeper.catalogs_deleted, {{"event", "deleted"}}),
                  CountPoint(figures.keeper.hours_merged, {{"event", "merged"}}),
                  CountPoint(figures.keeper.catalogs_written, {{"event", "written"}})}});
}

void AddRetention(const RetentionFigures& figures, service::ExpositionWriter& writer) {
  writer.Family({"firetower_hub_retention_sweeps_total",
                 "Sweeps that delete what is too old; the leader's.",
                 kCounter,
                 {CountPoint(figures.failed_sweeps, {{"result", "failed"}}),
                  CountPoint(figures.sweeps, {{"result", "ok"}})}});
  writer.Family({"firetower_hub_retention_objects_total",
                 "Objects that were too old.",
                 kCounter,
                 {CountPoint(figures.swept.deleted_objects, {{"result", "deleted"}}),
                  CountPoint(figures.swept.failed_deletions, {{"result", "failed"}})}});
  writer.Family({"firetower_hub_retention_deleted_bytes_total",
                 "Bytes of the objects that were deleted as too old.",
                 kCounter,
                 {CountPoint(figures.swept.deleted_bytes)}});
  writer.Family(
      {"firetower_hub_retention_aborted_uploads_total",
       "Uploads in parts that were aborted: begun more than a day ago and never completed.",
       kCounter,
       {CountPoint(figures.swept.aborted_uploads)}});
}

}  // namespace

void AddProfileMetrics(const ProfileFigures& figures, service::ExpositionWriter& writer) {
  AddCatalogs(figures.catalogs, writer);
  writer.Family({"firetower_hub_catalog_lag_seconds",
                 "How long ago the last look at the store that went well began: what came since "
                 "then may be in no answer.",
                 kGauge,
                 {CountPoint(figures.catalog_lag_seconds)}});
  writer.Family({"firetower_hub_recent_rows",
                 "Stored profiles that no catalog holds yet: known from memory.",
                 kGauge,
                 {CountPoint(figures.recent_rows)}});
  writer.Family({"firetower_hub_recent_bytes",
                 "What that takes of memory.",
                 kGauge,
                 {CountPoint(figures.recent_bytes)}});
  AddRetention(figures.retention, writer);
  writer.Family({"firetower_objectstore_clock_skew_seconds",
                 "The store's clock minus this machine's, as it told in the last ten minutes; 0 "
                 "while both may be right.",
                 kGauge,
                 {CountPoint(figures.store_skew_ns / kNsPerSecond)}});
  MetricFamily allowed{
      "firetower_hub_access_allowed",
      "Whether the hub may create such objects, as it must to know who may read profiles.",
      kGauge,
      {}};
  for (const OwnRight& right : figures.rights) {
    if (right.allowed)
      allowed.points.push_back(
          CountPoint(*right.allowed ? 1 : 0, {{"resource", std::string(right.resource)}}));
  }
  writer.Family(allowed);
}

}  // namespace firetower::hub
