// SPDX-License-Identifier: Apache-2.0
#include "hub/hub_metrics.h"

#include <fmt/core.h>

#include <array>

#include "hub/exposition.h"

namespace firetower::hub {
namespace {

constexpr std::string_view kRequests = "firetower_kube_requests_total";
constexpr std::string_view kRestarts = "firetower_kube_watch_restarts_total";
constexpr std::string_view kSkipped = "firetower_kube_objects_skipped_total";
constexpr std::string_view kWrites = "firetower_hub_writes_total";
constexpr std::string_view kHttpRequests = "firetower_hub_http_requests_total";

struct Help {
  std::string_view family;
  std::string_view text;
};
constexpr std::array<Help, 5> kCounters = {{
    {kHttpRequests, "Requests to the hub by path and how they ended."},
    {kWrites, "Writes of the hub by what they were to change and how they ended."},
    {kSkipped, "Objects of the API server that were left out."},
    {kRequests, "Requests to the API server; code 0: no answer."},
    {kRestarts, "Watches begun anew."},
}};
constexpr std::array<std::string_view, 5> kEnds = {"written", "conflict", "gone", "refused",
                                                   "failed"};
constexpr std::array<std::string_view, 3> kWritten = {"status", "policies", "events"};
// Reasons as k8s/watch/reflector.cc spells them.
constexpr std::array<std::string_view, 10> kRestartReasons = {
    "ended",     "cut",       "expired", "server error",     "not understood", "no streaming lists",
    "no answer", "forbidden", "absent",  "version too large"};
constexpr std::array<std::string_view, 3> kSkipReasons = {"list item", "event", "not understood"};

std::string ReasonLabels(std::string_view resource, std::string_view reason) {
  return fmt::format(R"(reason="{}",resource="{}")", reason, resource);
}

std::string WriteLabels(std::string_view resource, std::string_view end) {
  return fmt::format(R"(resource="{}",result="{}")", resource, end);
}

}  // namespace

void HubMetrics::Count(std::string_view family, std::string labels) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_[{family, std::move(labels)}];
}

void HubMetrics::OnRequest(std::string_view resource, std::string_view verb, int status) {
  Count(kRequests, fmt::format(R"(code="{}",resource="{}",verb="{}")", status, resource, verb));
}

void HubMetrics::OnRestart(std::string_view resource, std::string_view reason, bool) {
  Count(kRestarts, ReasonLabels(resource, reason));
}

void HubMetrics::OnSkipped(std::string_view resource, std::string_view reason) {
  Count(kSkipped, ReasonLabels(resource, reason));
}

void HubMetrics::CountWrite(std::string_view verb, std::string_view resource, k8s::WriteEnd end,
                            int status) {
  OnRequest(resource, verb, status);
  Count(kWrites, WriteLabels(resource, kEnds[static_cast<size_t>(end)]));
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
  Count(kHttpRequests, fmt::format(R"(code="{}",route="{}")", status, route));
}

std::map<HubMetrics::Series, uint64_t> HubMetrics::CountsOf(const Now& now) const {
  std::map<Series, uint64_t> counts;
  for (const std::string_view resource : kWritten) {
    for (const std::string_view end : kEnds) counts[{kWrites, WriteLabels(resource, end)}] = 0;
  }
  for (const k8s::WatchState& watch : now.watches) {
    for (const std::string_view reason : kRestartReasons)
      counts[{kRestarts, ReasonLabels(watch.resource, reason)}] = 0;
    for (const std::string_view reason : kSkipReasons)
      counts[{kSkipped, ReasonLabels(watch.resource, reason)}] = 0;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [series, count] : counts_) counts[series] = count;
  return counts;
}

std::string HubMetrics::Render(const Now& now) const {
  std::string out;
  AddHead(out, "firetower_build_info", "gauge", "The version that runs.");
  out += "firetower_build_info{version=\"" FIRETOWER_VERSION "\"} 1\n";
  AddNumber(out, "firetower_hub_leader", "gauge", "Whether this one leads: writes status.",
            now.leads ? 1 : 0);
  AddNumber(out, "firetower_hub_nodes", "gauge", "Nodes whose agents report.", now.nodes);
  AddHead(out, "firetower_policies", "gauge", "Policies that are known.");
  out += fmt::format("firetower_policies{{kind=\"ClusterProfilingPolicy\"}} {}\n",
                     now.cluster_policies);
  out += fmt::format("firetower_policies{{kind=\"ProfilingPolicy\"}} {}\n", now.policies);
  AddNumber(out, "firetower_hub_terms_total", "counter", "How often this one began to lead.",
            now.terms);
  AddNumber(out, "firetower_hub_lease_failures_total", "counter",
            "Looks at the lease, or renewals of it, that failed.", now.lease_failures);
  AddHead(out, "firetower_kube_synced", "gauge", "Whether a watched kind is known as it is now.");
  for (const k8s::WatchState& watch : now.watches) {
    out += fmt::format("firetower_kube_synced{{resource=\"{}\"}} {}\n", watch.resource,
                       watch.state.health == k8s::ReflectorHealth::kSynced ? 1 : 0);
  }
  if (now.profiles) AddProfileMetrics(*now.profiles, out);
  const std::map<Series, uint64_t> counts = CountsOf(now);
  for (const Help& counter : kCounters) {
    AddHead(out, counter.family, "counter", counter.text);
    for (const auto& [series, count] : counts) {
      const auto& [family, labels] = series;
      if (family == counter.family) out += fmt::format("{}{{{}}} {}\n", family, labels, count);
    }
  }
  return out;
}

}  // namespace firetower::hub
