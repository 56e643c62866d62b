// SPDX-License-Identifier: Apache-2.0
#include "hub/hub_metrics.h"

#include <array>

namespace firetower::hub {
namespace {

constexpr std::string_view kRequests = "firetower_kube_requests_total";
constexpr std::string_view kRestarts = "firetower_kube_watch_restarts_total";
constexpr std::string_view kSkipped = "firetower_kube_objects_skipped_total";
constexpr std::string_view kWrites = "firetower_hub_writes_total";
constexpr std::string_view kHttpRequests = "firetower_hub_http_requests_total";

struct Counter {
  std::string_view family;
  std::string_view help;
  std::vector<std::string> labels;
};
const std::array<Counter, 5> kCounters = {{
    {kHttpRequests, "Requests to the hub by path and status code.", {"code", "route"}},
    {kWrites, "Writes of the hub by resource and result.", {"resource", "result"}},
    {kSkipped, "Objects of the API server that were skipped.", {"reason", "resource"}},
    {kRequests, "Requests to the API server; code 0: no answer.", {"code", "resource", "verb"}},
    {kRestarts, "Watches that were restarted.", {"reason", "resource"}},
}};
constexpr std::array<std::string_view, 5> kEnds = {"written", "conflict", "gone", "refused",
                                                   "failed"};
constexpr std::array<std::string_view, 3> kWritten = {"status", "policies", "events"};
// Reasons as k8s/watch/reflector.cc spells them.
constexpr std::array<std::string_view, 10> kRestartReasons = {
    "ended",     "cut",       "expired", "server error",     "not understood", "no streaming lists",
    "no answer", "forbidden", "absent",  "version too large"};
constexpr std::array<std::string_view, 3> kSkipReasons = {"list item", "event", "not understood"};

}  // namespace

void HubMetrics::Count(Series series) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_[std::move(series)];
}

void HubMetrics::OnRequest(std::string_view resource, std::string_view verb, int status) {
  Count({kRequests, {std::to_string(status), std::string(resource), std::string(verb)}});
}

void HubMetrics::OnRestart(std::string_view resource, std::string_view reason, bool) {
  Count({kRestarts, {std::string(reason), std::string(resource)}});
}

void HubMetrics::OnSkipped(std::string_view resource, std::string_view reason) {
  Count({kSkipped, {std::string(reason), std::string(resource)}});
}

void HubMetrics::CountWrite(std::string_view verb, std::string_view resource, k8s::WriteEnd end,
                            int status) {
  OnRequest(resource, verb, status);
  Count({kWrites, {std::string(resource), std::string(kEnds[static_cast<size_t>(end)])}});
}

void HubMetrics::OnStatusWrite(k8s::WriteEnd end, int status) {
  CountWrite("patch", "status", end, status);
}
void HubMetrics::OnDeletion(k8s::WriteEnd end, int status) {
  CountWrite("delete", "policies", end, status);
}
void HubMetrics::OnEvent(k8s::WriteEnd end, int status) {
  CountWrite("create", "events", end, status);
}

void HubMetrics::OnHttpRequest(std::string_view route, int status) {
  Count({kHttpRequests, {std::to_string(status), std::string(route)}});
}

std::map<HubMetrics::Series, uint64_t> HubMetrics::CountsOf(const Now& now) const {
  std::map<Series, uint64_t> counts;
  for (const std::string_view resource : kWritten) {
    for (const std::string_view end : kEnds)
      counts[{kWrites, {std::string(resource), std::string(end)}}] = 0;
  }
  for (const k8s::WatchState& watch : now.watches) {
    for (const std::string_view reason : kRestartReasons)
      counts[{kRestarts, {std::string(reason), watch.resource}}] = 0;
    for (const std::string_view reason : kSkipReasons)
      counts[{kSkipped, {std::string(reason), watch.resource}}] = 0;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [series, count] : counts_) counts[series] = count;
  return counts;
}

std::string HubMetrics::Render(const Now& now, service::ExpositionFormat format) const {
  using service::CountPoint;
  using service::MetricFamily;
  constexpr auto kGauge = service::MetricKind::kGauge;
  constexpr auto kCounter = service::MetricKind::kCounter;
  service::ExpositionWriter writer(format);
  writer.Family({"firetower_build_info",
                 "The version of this hub.",
                 service::MetricKind::kInfo,
                 {CountPoint(1, {{"version", FIRETOWER_VERSION}})}});
  writer.Family({"firetower_hub_leader",
                 "1 while this hub leads and writes status.",
                 kGauge,
                 {CountPoint(now.leads ? 1 : 0)}});
  writer.Family(
      {"firetower_hub_nodes", "Nodes whose agents report.", kGauge, {CountPoint(now.nodes)}});
  writer.Family({"firetower_policies",
                 "The number of policies.",
                 kGauge,
                 {CountPoint(now.cluster_policies, {{"kind", "ClusterProfilingPolicy"}}),
                  CountPoint(now.policies, {{"kind", "ProfilingPolicy"}})}});
  writer.Family({"firetower_hub_terms_total",
                 "How often this hub became the leader.",
                 kCounter,
                 {CountPoint(now.terms)}});
  writer.Family({"firetower_hub_lease_failures_total",
                 "Reads and renewals of the lease that failed.",
                 kCounter,
                 {CountPoint(now.lease_failures)}});
  MetricFamily synced{"firetower_kube_synced",
                      "1 while the hub has the current objects of a watched kind.",
                      kGauge,
                      {}};
  for (const k8s::WatchState& watch : now.watches) {
    const bool is_synced = watch.state.health == k8s::ReflectorHealth::kSynced;
    synced.points.push_back(CountPoint(is_synced ? 1 : 0, {{"resource", watch.resource}}));
  }
  writer.Family(synced);
  if (now.certificate) {
    writer.Family({"firetower_tls_certificate_expiration_timestamp_seconds",
                   "When the certificate in use expires, in Unix time.",
                   kGauge,
                   {CountPoint(static_cast<uint64_t>(now.certificate->not_after_seconds))}});
    writer.Family({"firetower_tls_certificates_refused_total",
                   "New certificates that could not be used.",
                   kCounter,
                   {CountPoint(now.certificate->refused)}});
  }
  if (now.profiles) AddProfileMetrics(*now.profiles, writer);
  const std::map<Series, uint64_t> counts = CountsOf(now);
  for (const Counter& counter : kCounters) {
    MetricFamily family{std::string(counter.family), std::string(counter.help), kCounter, {}};
    for (const auto& [series, count] : counts) {
      if (series.first != counter.family) continue;
      service::MetricPoint& point = family.points.emplace_back(CountPoint(count));
      for (size_t i = 0; i < counter.labels.size(); ++i)
        point.labels.push_back({counter.labels[i], series.second[i]});
    }
    writer.Family(family);
  }
  return std::move(writer).Finish();
}

}  // namespace firetower::hub
