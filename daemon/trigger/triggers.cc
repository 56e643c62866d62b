// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/triggers.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "daemon/trigger/policy_trigger.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kHourNs = 3600 * kNsPerSecond;

std::string IdentityOf(const k8s::ProfilingPolicy& policy) {
  return DisplayName(policy) + " " + policy.uid;
}

// A file's policy has no generation: there its trigger tells, which alone decides what fires.
bool FiresAlike(const k8s::ProfilingPolicy& one, const k8s::ProfilingPolicy& other) {
  return one.generation == other.generation && one.spec.trigger == other.spec.trigger;
}

// A pod's own cgroup holds its containers too, and the host's everything: their numbers are not
// those of a container.
bool IsMeasured(const Container& container) {
  return container.path.kind == k8s::PathKind::kContainer ||
         container.path.kind == k8s::PathKind::kHostUnit;
}

MeasuredContainer MeasuredOf(const WatchedContainer& watched) {
  MeasuredContainer measured{watched.container, 0, 0};
  if (watched.pod == nullptr) return measured;
  const k8s::PodContainer* found = watched.pod->FindContainer(watched.container->path.container_id);
  if (found == nullptr) return measured;
  measured.cpu_request_millis = found->requests.cpu_millis;
  measured.memory_request_bytes = found->requests.memory_bytes;
  return measured;
}

}  // namespace

struct Triggers::Watched {
  MeasuredContainer measured;
  WatchedTarget target;
  double reported_kills = 0;
};

Triggers::Triggers(MetricSource& source) : source_(source) {}
Triggers::~Triggers() = default;

void Triggers::Arm(const std::vector<ArmedPolicy>& policies,
                   const std::vector<WatchedContainer>& containers) {
  ArmPolicies(policies);
  const WatchedByPath gone = ArmContainers(containers);
  SetTargets(containers);
}

void Triggers::ArmPolicies(const std::vector<ArmedPolicy>& policies) {
  for (auto& policy : policies_) past_[IdentityOf(*policy->policy())] = std::move(policy);
  policies_.clear();
  for (const ArmedPolicy& policy : policies) {
    if (policies_.size() == kMaxPolicies) break;
    auto before = past_.extract(IdentityOf(*policy));
    if (before && FiresAlike(*before.mapped()->policy(), *policy)) {
      before.mapped()->SetPolicy(policy);
      policies_.push_back(std::move(before.mapped()));
      continue;
    }
    policies_.push_back(std::make_unique<PolicyTrigger>(policy));
    if (before) {
      policies_.back()->Inherit(*before.mapped());
    } else {
      InheritByName(*policies_.back());
    }
  }
  policies_left_out_ = policies.size() - policies_.size();
  for (auto& [identity, policy] : past_) policy->SetTargets({});
}

void Triggers::InheritByName(PolicyTrigger& policy) {
  const std::string name = DisplayName(*policy.policy());
  if (const auto found = remembered_.find(name); found != remembered_.end())
    policy.Inherit(found->second);
  // Each of them took over the captures of the one before it.
  for (const auto& [identity, past] : past_) {
    if (DisplayName(*past->policy()) == name && past->captures() > policy.captures())
      policy.Inherit(*past);
  }
}

Triggers::WatchedByPath Triggers::ArmContainers(const std::vector<WatchedContainer>& containers) {
  WatchedByPath before = std::exchange(watched_, {});
  std::vector<MeasuredContainer> measured;
  containers_left_out_ = 0;
  for (const WatchedContainer& container : containers) {
    const std::string& path = container.container->root_path;
    if (!IsMeasured(*container.container) || watched_.contains(path)) continue;
    if (watched_.size() == kMaxContainers) {
      ++containers_left_out_;
      continue;
    }
    auto node = before.extract(path);
    if (!node) {
      watched_.emplace(path, std::make_unique<Watched>());
    } else {
      watched_.insert(std::move(node));
    }
    Watched& watched = *watched_.at(path);
    watched.measured = MeasuredOf(container);
    watched.target.container = container.container;
    measured.push_back(watched.measured);
  }
  source_.Watch(measured);
  return before;
}

void Triggers::SetTargets(const std::vector<WatchedContainer>& containers) {
  std::vector<std::vector<const WatchedTarget*>> targets(policies_.size());
  for (const WatchedContainer& container : containers) {
    const auto found = watched_.find(container.container->root_path);
    if (found == watched_.end()) continue;
    for (const size_t policy : container.policies) {
      if (policy < targets.size()) targets[policy].push_back(&found->second->target);
    }
  }
  for (size_t i = 0; i < policies_.size(); ++i) policies_[i]->SetTargets(targets[i]);
}

Triggers::Watched* Triggers::FindWatched(std::string_view cgroup_path) const {
  // Its own path, or that of a cgroup around it.
  for (std::string_view path = cgroup_path; !path.empty(); path = path.substr(0, path.rfind('/'))) {
    const auto found = watched_.find(std::string(path));
    if (found != watched_.end()) return found->second.get();
  }
  return nullptr;
}

void Triggers::NoteOomKill(std::string_view cgroup_path, int64_t monotonic_ns) {
  if (reported_kills_.size() == kMaxReportedKills) reported_kills_.erase(reported_kills_.begin());
  reported_kills_.push_back({std::string(cgroup_path), monotonic_ns});
}

void Triggers::TakeReportedKills() {
  std::erase_if(reported_kills_, [&](const ReportedKill& kill) {
    Watched* watched = FindWatched(kill.path);
    if (watched != nullptr) ++watched->reported_kills;
    return watched != nullptr;
  });
}

std::vector<Firing> Triggers::Evaluate(int64_t monotonic_ns, int64_t wall_ns) {
  TakeReportedKills();
  std::erase_if(reported_kills_, [&](const ReportedKill& kill) {
    return kill.at_ns + kKeepReportedNs < monotonic_ns;
  });
  std::erase_if(
      past_, [&](const auto& one) { return !one.second->CapturedAfter(monotonic_ns - kHourNs); });
  const bool kills = std::any_of(policies_.begin(), policies_.end(),
                                 [](const auto& policy) { return policy->WantsKills(); });
  for (auto& [path, watched] : watched_) {
    if (!kills) break;
    const MetricReading reading =
        source_.ReadContainer(*watched->target.container, k8s::Metric::kOomKill, monotonic_ns);
    // Each source may have seen a kill that the other one missed.
    watched->target.kills =
        std::max({watched->target.kills, watched->reported_kills, reading ? reading.value : 0});
  }
  std::vector<Firing> firings;
  for (const auto& policy : policies_) {
    for (Firing& firing : policy->Evaluate(source_, monotonic_ns, wall_ns))
      firings.push_back(std::move(firing));
  }
  return firings;
}

std::vector<PolicyTriggerCounts> Triggers::Counts() const {
  std::vector<PolicyTriggerCounts> counts;
  for (const auto& policy : policies_) counts.push_back({policy->policy(), policy->counts()});
  return counts;
}

std::vector<ArmedPolicy> Triggers::MayFire() const {
  std::vector<ArmedPolicy> those;
  for (const auto& policy : policies_) {
    if (policy->MayFire()) those.push_back(policy->policy());
  }
  return those;
}

std::vector<UnservedRule> Triggers::Unserved() const {
  std::vector<UnservedRule> unserved;
  for (const auto& policy : policies_) {
    for (size_t i = 0; i < policy->rules().size(); ++i) {
      if (!policy->Unserved(i)) continue;
      const k8s::Metric metric = policy->rules()[i].metric;
      unserved.push_back(
          {policy->policy(), policy->policy()->spec.trigger->rules[i].name,
           fmt::format("{}: {}", k8s::EnumName(metric), source_.NotServedReason(metric))});
    }
  }
  return unserved;
}

}  // namespace firetower::daemon
