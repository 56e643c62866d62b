// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/workload.h"

#include <charconv>

#include "base/clock.h"

namespace firetower::k8s {
namespace {

constexpr int64_t kMinuteNs = 60 * kNsPerSecond;
// A Job may retry and wait for its node for long; no calendar date reads as minutes this near.
constexpr int64_t kLongestJobMinutes = 30 * 24 * 60;
// The clocks of the controller manager and of the API server.
constexpr int64_t kClockSkewMinutes = 10;

// The part of `name` before `-suffix`; "" when it does not end so.
std::string_view WithoutSuffix(std::string_view name, std::string_view suffix) {
  if (suffix.empty() || name.size() < suffix.size() + 2 || !name.ends_with(suffix)) return "";
  name.remove_suffix(suffix.size());
  return name.back() == '-' ? name.substr(0, name.size() - 1) : "";
}

// The CronJob of a Job by its name, "" when that does not look like one.
std::string_view CronJobOf(std::string_view job, std::optional<int64_t> created_wall_ns) {
  const size_t dash = job.rfind('-');
  if (!created_wall_ns || dash == std::string_view::npos || dash == 0) return "";
  const std::string_view digits = job.substr(dash + 1);
  int64_t minutes = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), minutes);
  if (error != std::errc() || end != digits.end() || digits.empty() || digits[0] == '-') return "";
  const int64_t age = *created_wall_ns / kMinuteNs - minutes;
  return age >= -kClockSkewMinutes && age <= kLongestJobMinutes ? job.substr(0, dash) : "";
}

}  // namespace

Workload WorkloadOf(const PodOwner& owner, std::string_view pod_name, const Labels& labels,
                    std::optional<int64_t> created_wall_ns) {
  if (owner.kind.empty() || owner.name.empty() || owner.kind == "Node")
    return {"Pod", std::string(pod_name)};
  if (owner.kind == "ReplicaSet") {
    const auto hash = labels.find("pod-template-hash");
    const std::string_view name =
        hash == labels.end() ? "" : WithoutSuffix(owner.name, hash->second);
    if (!name.empty()) return {"Deployment", std::string(name)};
  }
  if (owner.kind == "Job") {
    const std::string_view name = CronJobOf(owner.name, created_wall_ns);
    if (!name.empty()) return {"CronJob", std::string(name)};
  }
  return {std::string(owner.kind), std::string(owner.name)};
}

}  // namespace firetower::k8s
