// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/hub_sources.h"

#include <fmt/core.h>

#include <cstdlib>

#include "hub/readiness.h"
#include "service/metrics/negotiation.h"
#include "store/access/clock_skew.h"
#include "store/walk.h"

namespace firetower::hub {
namespace {

using query::Check;
using query::CheckStatus;

// The check must not hang; an S3 store's own check takes at most 15 s.
constexpr int64_t kCheckNs = 10 * kNsPerSecond;

Check StoreCheck(const store::ObjectStore& store, const std::string& cluster) {
  const int64_t until_ns = Clock::System().MonotonicNs() + kCheckNs;
  const auto limited = store.Limited({.stop = {}, .deadline_ns = until_ns});
  const Status checked = limited->Check();
  const auto unreachable = [](const Error& error) -> Check {
    return {"store", CheckStatus::kFail, error.message(),
            "docs/reference/object-store.md lists the rights that the hub needs"};
  };
  if (!checked) return unreachable(checked.error());
  const auto kept = store::ListClusters(*limited, cluster);
  if (!kept) return unreachable(kept.error());
  if (kept->empty()) {
    return {"store", CheckStatus::kWarn,
            fmt::format("{} has nothing of cluster {}", store.Describe(), cluster),
            "set the hub's --store and --cluster to those of the agents; their first profiles take "
            "a minute"};
  }
  const int64_t skew_s = store.ClockSkewNs() / kNsPerSecond;
  if (std::abs(skew_s) > store::kTellSkewSeconds) {
    return {"store", CheckStatus::kWarn,
            fmt::format("{}: its clock is {} s {} this machine's; objects are deleted when they "
                        "are too old by both",
                        store.Describe(), std::abs(skew_s), skew_s > 0 ? "ahead of" : "behind"),
            "set the wrong clock, and run a time service"};
  }
  return {"store", CheckStatus::kOk, fmt::format("{} can be listed", store.Describe()), ""};
}

Check CatalogCheck(const CatalogFigures& figures, int64_t lag_s) {
  if (!figures.error.empty()) {
    return {"catalogs", CheckStatus::kWarn, figures.error,
            "queries list bundles meanwhile, which costs more; see the check of the store"};
  }
  if (lag_s > CatalogController::kBehindSeconds) {
    return {"catalogs", CheckStatus::kWarn,
            fmt::format("the last finished catalog round began {} s ago: newer profiles may be "
                        "missing in answers",
                        lag_s),
            "a round after a start, or after an outage of the store, may take minutes; else check "
            "whether the store is slow, or the hub lacks CPU"};
  }
  if (figures.keeper.unreadable_bundles > 0) {
    return {"catalogs", CheckStatus::kWarn,
            fmt::format("{} bundles could not be read since the hub started, the last {}",
                        figures.keeper.unreadable_bundles, figures.keeper.last_unreadable),
            "their profiles are missing in answers: restore an intact copy, such as an earlier "
            "version of the object, or delete it; the log names each"};
  }
  if (figures.rounds == 0)
    return {"catalogs", CheckStatus::kOk, "the first round is under way", ""};
  return {"catalogs", CheckStatus::kOk,
          fmt::format("{} written, {} hours merged", figures.keeper.catalogs_written,
                      figures.keeper.hours_merged),
          ""};
}

Check RetentionCheck(const RetentionFigures& figures) {
  std::string error = figures.error;
  std::string fix = error.empty() ? "" : "allow the hub to delete objects (s3:DeleteObject); ";
  if (!figures.uploads_error.empty()) {
    error +=
        fmt::format("{}unfinished uploads: {}", error.empty() ? "" : "; ", figures.uploads_error);
    fix +=
        "allow the hub to list and abort uploads (s3:ListBucketMultipartUploads, "
        "s3:AbortMultipartUpload); ";
  }
  if (!error.empty())
    return {"retention", CheckStatus::kWarn, error, fix + "the hub retries every hour"};
  return {
      "retention", CheckStatus::kOk,
      fmt::format("{} objects deleted in {} sweeps", figures.swept.deleted_objects, figures.sweeps),
      ""};
}

Check RightCheck(const OwnRight& right) {
  const std::string name = fmt::format("kube-{}", right.resource);
  if (!right.allowed)
    return {name, CheckStatus::kWarn, fmt::format("not known: {}", right.message), ""};
  if (*right.allowed) return {name, CheckStatus::kOk, "may be created", ""};
  return {name, CheckStatus::kFail,
          "the hub's account may not create them: it cannot check rights, so it answers no query",
          fmt::format("grant create of {} in {}, as k8s/manifests/hub-rbac.yaml does",
                      right.resource, right.group)};
}

Check WatchCheck(const k8s::WatchState& watch) {
  const std::string name = fmt::format("kube-{}", watch.resource);
  if (watch.state.health == k8s::ReflectorHealth::kSynced)
    return {name, CheckStatus::kOk, "as the API server has them", ""};
  const bool is_refused = watch.state.health == k8s::ReflectorHealth::kForbidden;
  return {name, CheckStatus::kWarn,
          watch.state.message.empty() ? "not read yet" : watch.state.message,
          is_refused ? fmt::format("grant list and watch of {}", watch.resource) : ""};
}

}  // namespace

query::MetricsSource::Page HubSources::Render(std::string_view accept) const {
  const service::ExpositionFormat format = service::NegotiateFormat(accept);
  return {std::string(service::ContentTypeOf(format)), parts_.metrics(format)};
}

std::vector<query::Check> HubSources::Checks() const {
  std::vector<Check> checks = {
      StoreCheck(parts_.store, parts_.cluster),
      CatalogCheck(*parts_.catalogs.figures(), parts_.catalogs.LagSeconds()),
      RetentionCheck(*parts_.retention.figures())};
  for (const OwnRight& right : *parts_.rights.Get()) checks.push_back(RightCheck(right));
  for (const k8s::WatchState& watch : parts_.watches()) checks.push_back(WatchCheck(watch));
  return checks;
}

std::vector<std::string> HubSources::NotReadyReasons() const {
  std::vector<std::string> reasons;
  const std::string text = AwaitedText(parts_.watches());
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    reasons.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return reasons;
}

}  // namespace firetower::hub
