// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/profile_figures.h"

#include "base/clock.h"

namespace firetower::hub {
namespace {

using service::CountPoint;
using service::MetricFamily;

constexpr auto kCounter = service::MetricKind::kCounter;
constexpr size_t kMostSlower = 200;
constexpr auto kGauge = service::MetricKind::kGauge;

void AddCatalogs(const CatalogFigures& figures, service::ExpositionWriter& writer) {
  writer.Family({"firetower_hub_catalog_rounds_total",
                 "Searches in the store for bundles that are in no catalog yet.",
                 kCounter,
                 {CountPoint(figures.failed_rounds, {{"result", "failed"}}),
                  CountPoint(figures.rounds, {{"result", "ok"}})}});
  writer.Family({"firetower_hub_catalog_bundles_total",
                 "Bundles that were read for catalogs.",
                 kCounter,
                 {CountPoint(figures.keeper.bundles_read, {{"result", "ok"}}),
                  CountPoint(figures.keeper.unreadable_bundles, {{"result", "unreadable"}})}});
  writer.Family({"firetower_hub_catalogs_total",
                 "Catalogs that were written (for some minutes), merged into one of an hour, "
                 "deleted because others replace them, or damaged.",
                 kCounter,
                 {CountPoint(figures.keeper.damaged_catalogs, {{"event", "damaged"}}),
                  CountPoint(figures.keeper.catalogs_deleted, {{"event", "deleted"}}),
                  CountPoint(figures.keeper.hours_merged, {{"event", "merged"}}),
                  CountPoint(figures.keeper.catalogs_written, {{"event", "written"}})}});
}

void AddRetention(const RetentionFigures& figures, service::ExpositionWriter& writer) {
  writer.Family({"firetower_hub_retention_sweeps_total",
                 "Sweeps of the leader, which delete expired objects.",
                 kCounter,
                 {CountPoint(figures.failed_sweeps, {{"result", "failed"}}),
                  CountPoint(figures.sweeps, {{"result", "ok"}})}});
  writer.Family({"firetower_hub_retention_objects_total",
                 "Expired objects by result.",
                 kCounter,
                 {CountPoint(figures.swept.deleted_objects, {{"result", "deleted"}}),
                  CountPoint(figures.swept.failed_deletions, {{"result", "failed"}})}});
  writer.Family({"firetower_hub_retention_deleted_bytes_total",
                 "Bytes of deleted expired objects.",
                 kCounter,
                 {CountPoint(figures.swept.deleted_bytes)}});
  writer.Family({"firetower_hub_retention_aborted_uploads_total",
                 "Multipart uploads that were aborted, because they began more than a day ago and "
                 "were never completed.",
                 kCounter,
                 {CountPoint(figures.swept.aborted_uploads)}});
}

void AddRollouts(const RolloutFigures& figures, service::ExpositionWriter& writer) {
  writer.Family({"firetower_hub_rollouts_total",
                 "Changes of a Deployment to other pods that the leader has seen.",
                 kCounter,
                 {CountPoint(figures.rollouts)}});
  writer.Family({"firetower_hub_rollout_looks_total",
                 "Looks of the leader for roll-outs, once a minute.",
                 kCounter,
                 {CountPoint(figures.failed_looks, {{"result", "failed"}}),
                  CountPoint(figures.looks, {{"result", "ok"}})}});
  MetricFamily slower{"firetower_rollout_slower_function_percent",
                      "Share of the CPU time that a function takes since a roll-out of the last "
                      "hour, more than before beyond chance: at most 200 series.",
                      kGauge,
                      {}};
  for (const Regression& regression : figures.recent) {
    for (const diagnosis::Finding& finding : regression.findings) {
      if (slower.points.size() == kMostSlower) break;
      const query::Rollout& rollout = regression.rollout;
      service::MetricPoint& point = slower.points.emplace_back();
      point.labels = {{"namespace", rollout.namespace_name},
                      {"workload", rollout.workload},
                      {"revision", rollout.after},
                      {"function", finding.function}};
      point.value = finding.percent;
    }
  }
  writer.Family(slower);
}

}  // namespace

void AddProfileMetrics(const ProfileFigures& figures, service::ExpositionWriter& writer) {
  AddCatalogs(figures.catalogs, writer);
  writer.Family({"firetower_hub_catalog_lag_seconds",
                 "Time since the start of the last successful search in the store: newer profiles "
                 "may be missing in answers.",
                 kGauge,
                 {CountPoint(figures.catalog_lag_seconds)}});
  writer.Family({"firetower_hub_recent_rows",
                 "Stored profiles in memory that are in no catalog yet.",
                 kGauge,
                 {CountPoint(figures.recent_rows)}});
  writer.Family({"firetower_hub_recent_bytes",
                 "Memory of these profiles' rows.",
                 kGauge,
                 {CountPoint(figures.recent_bytes)}});
  AddRetention(figures.retention, writer);
  AddRollouts(figures.rollouts, writer);
  writer.Family({"firetower_objectstore_clock_skew_seconds",
                 "The store's clock minus this machine's, from answers of the last ten minutes; 0 "
                 "if there is no certain difference.",
                 kGauge,
                 {CountPoint(figures.store_skew_ns / kNsPerSecond)}});
  MetricFamily allowed{
      "firetower_hub_access_allowed",
      "1 if the hub may create these objects, which it needs to check who may read profiles.",
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
