// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/served.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::k8s {

ServedReport Served(const ProfilingPolicy& policy) {
  ServedReport report;
  const auto refuse = [&](std::string message) {
    report.served = false;
    report.messages.push_back(std::move(message));
  };
  for (const ProfileSpec& profile : policy.spec.profiles) {
    for (const EventSpec& event : profile.events) {
      if (policy.cluster || !IsTracepoint(event.name)) continue;
      report.messages.push_back(
          fmt::format("event {} is left out: tracepoints show the whole kernel and need a "
                      "ClusterProfilingPolicy",
                      event.name));
    }
  }
  const auto is_events = [](const ProfileSpec& profile) {
    return profile.type == ProfileType::kEvent;
  };
  const bool only_events =
      !policy.spec.profiles.empty() && std::ranges::all_of(policy.spec.profiles, is_events);
  if (only_events && EventsOf(policy).empty())
    refuse("no event of the policy is left: it has no effect");
  if (policy.spec.export_spec.object_store.isolation != Isolation::kNode) {
    report.messages.push_back(
        "objectStore.isolation Namespace is not supported by this version yet: bundles are per "
        "node");
  }
  return report;
}

}  // namespace firetower::k8s
