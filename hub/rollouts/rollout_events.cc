// SPDX-License-Identifier: Apache-2.0
#include "hub/rollouts/rollout_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "k8s/status/api_call.h"
#include "k8s/status/status_writer.h"
#include "query/time_range.h"

namespace firetower::hub {

std::string RegressionNote(const Regression& regression) {
  constexpr size_t kShown = 3;
  const query::Rollout& rollout = regression.rollout;
  std::string note =
      fmt::format("since revision {} came for {}, {}: ", rollout.after, rollout.before,
                  query::FormatTimeUtc(rollout.at_ns / kNsPerSecond * kNsPerSecond));
  for (size_t i = 0; i < std::min(kShown, regression.findings.size()); ++i)
    note += (i == 0 ? "" : "; ") + regression.findings[i].cause;
  if (regression.findings.size() > kShown)
    note += fmt::format("; and {} more", regression.findings.size() - kShown);
  return note + fmt::format(". See firetower diagnose deploy/{} -n {} --since 1h --against rollout",
                            rollout.workload, rollout.namespace_name);
}

void RolloutEvents::Tell(const Regression& regression) {
  const query::Rollout& rollout = regression.rollout;
  k8s::ObjectEvent what;
  what.regarding = {"apps/v1", "Deployment", rollout.namespace_name, rollout.workload,
                    UidOf(rollout)};
  what.reason = "SlowerSinceRollout";
  what.action = "Compare";
  what.note = RegressionNote(regression);
  what.warning = true;
  const std::optional<k8s::ApiRequest> request =
      series_.Take(what, clock_.MonotonicNs(), clock_.WallNs());
  if (!request) return;
  const k8s::WriteOutcome outcome = k8s::OutcomeOf(k8s::Call(server_, *request));
  metrics_.OnEvent(outcome.end, outcome.status);
}

std::string RolloutEvents::UidOf(const query::Rollout& rollout) {
  const auto answer =
      k8s::Call(server_, {.target = fmt::format("/apis/apps/v1/namespaces/{}/deployments/{}",
                                                rollout.namespace_name, rollout.workload)});
  return answer && answer->ok() ? k8s::UidOf(answer->body) : "";
}

}  // namespace firetower::hub
