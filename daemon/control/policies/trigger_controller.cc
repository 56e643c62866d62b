// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/trigger_controller.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/log.h"

namespace firetower::daemon {
namespace {

constexpr const char* kMetricUnavailable = "MetricUnavailable";

// Names a firing for ever: policy, node and moment.
std::string IdOf(const Firing& firing, std::string_view node) {
  uint64_t hash = HashWord(kHashSeed, static_cast<uint64_t>(firing.wall_ns));
  hash = HashText(DisplayName(*firing.policy), hash);
  hash = HashText(node, HashText(firing.policy->uid, hash));
  // Two containers of a pod that fire at once may have a capture each, so their ids must differ.
  if (firing.container) hash = HashText(firing.container->root_path, hash);
  return fmt::format("{:012x}", hash & 0xFFFF'FFFF'FFFF);
}

CaptureSubject SubjectOf(const Firing& firing) {
  if (firing.whole_node || !firing.container) return {};
  const std::string& pod = firing.container->path.pod_uid;
  if (firing.capture.scope == k8s::CaptureScope::kPod && !pod.empty()) return {nullptr, pod};
  return {firing.container, ""};
}

}  // namespace

TriggerController::TriggerController(Parts parts)
    : parts_(std::move(parts)), triggers_(parts_.source) {}

void TriggerController::Remember(int64_t monotonic_ns, int64_t wall_ns) {
  if (parts_.history == nullptr) return;
  for (auto& [policy, times] : parts_.history->ByPolicy()) {
    std::vector<int64_t> captures_ns;
    for (const int64_t at_ns : times) captures_ns.push_back(monotonic_ns - (wall_ns - at_ns));
    triggers_.Remember(policy, std::move(captures_ns));
  }
}

bool TriggerController::Arm(const std::vector<PolicySchedule::Armed>& armed,
                            const k8s::PodIndex* pods) {
  std::vector<ArmedPolicy> policies;
  std::vector<WatchedContainer> watched;
  std::unordered_map<const Container*, size_t> places;
  for (const PolicySchedule::Armed& one : armed) {
    for (const std::shared_ptr<const Container>& target : one.targets) {
      auto [place, inserted] = places.try_emplace(target.get(), watched.size());
      if (inserted) {
        watched.push_back(
            {target, pods == nullptr ? nullptr : pods->Find(target->path.pod_uid), {}});
      }
      watched[place->second].policies.push_back(policies.size());
    }
    policies.push_back(one.policy);
  }
  armed_ = policies.size();
  triggers_.Arm(policies, watched);
  // Captures of a removed policy, or of one in another mode now, go on in the exporter, but nothing
  // more is sampled for them.
  std::erase_if(findings_, [&](const auto& finding) {
    return std::ranges::none_of(
        policies, [&](const ArmedPolicy& policy) { return policy->uid == finding.first; });
  });
  std::erase_if(captures_, [&](const Running& running) {
    return std::ranges::none_of(policies, [&](const ArmedPolicy& policy) {
      return DisplayName(*policy) == running.capture.policy;
    });
  });
  return SetNodeWide(policies);
}

bool TriggerController::SetNodeWide(const std::vector<ArmedPolicy>& policies) {
  NameSet may;
  for (const ArmedPolicy& policy : triggers_.MayFire()) may.insert(DisplayName(*policy));
  // A capture continues after its subject is gone, as after an OOM kill.
  for (const Running& running : captures_) may.insert(running.capture.policy);
  NameSet wide;
  for (const ArmedPolicy& policy : policies) {
    const bool is_wide = k8s::CapturesNode(policy->spec) && may.contains(DisplayName(*policy));
    if (is_wide) wide.insert(DisplayName(*policy));
    const auto finding = findings_.find(policy->uid);
    if (is_wide && !policy->uid.empty()) {
      findings_[policy->uid].node_wide = true;
    } else if (finding != findings_.end()) {
      finding->second.node_wide = false;
    }
  }
  const bool changed = wide != node_wide_;
  node_wide_ = std::move(wide);
  return changed;
}

TriggerMoment TriggerController::moment() const {
  TriggerMoment moment;
  for (const Running& running : captures_) moment.captures.push_back(running.capture);
  moment.node_wide = node_wide_;
  return moment;
}

void TriggerController::NoteOomKills(std::span<const OomKill> kills) {
  for (const OomKill& kill : kills) {
    triggers_.NoteOomKill(kill.container->root_path, kill.time_ns);
  }
}

bool TriggerController::Evaluate(int64_t monotonic_ns, int64_t wall_ns) {
  const size_t ended = std::erase_if(
      captures_, [&](const Running& running) { return running.until_ns <= monotonic_ns; });
  const std::vector<Firing> firings = triggers_.Evaluate(monotonic_ns, wall_ns);
  for (const Firing& firing : firings) Fire(firing);
  TellMetrics();
  FindUnserved();
  return ended > 0 || !firings.empty();
}

void TriggerController::Fire(const Firing& firing) {
  const k8s::ProfilingPolicy& policy = *firing.policy;
  const int64_t before_ns = firing.capture.pre_trigger_seconds * kNsPerSecond;
  const int64_t after_ns = firing.capture.duration_seconds * kNsPerSecond;
  const std::string text = Describe(firing);
  const CaptureSubject subject = SubjectOf(firing);
  captures_.push_back({{DisplayName(policy), subject}, firing.monotonic_ns + after_ns});
  CaptureOrder order;
  order.id = IdOf(firing, parts_.node);
  LOG(kInfo, "trigger fired",
      {{"policy", DisplayName(policy)},
       {"capture", order.id},
       {"why", text},
       {"container", firing.container ? firing.container->root_path : "node"}});
  if (parts_.history != nullptr) {
    const Status kept = parts_.history->Add(DisplayName(policy), firing.wall_ns);
    if (!kept)
      LOG(kWarn, "capture will be forgotten by a restart", {{"error", kept.error().message()}});
  }
  const k8s::ObjectStoreExport& store = policy.spec.export_spec.object_store;
  if (store.mode != k8s::ObjectStoreMode::kDisabled) {
    order.policy = ShortName(policy);
    order.reason = text;
    order.begin_ns = firing.monotonic_ns - before_ns;
    order.end_ns = firing.monotonic_ns + after_ns;
    order.begin_wall_ns = firing.wall_ns - before_ns;
    order.retention = store.retention_class;
    order.subject = subject;
    parts_.order(std::move(order));
  }
  if (policy.uid.empty()) return;
  PolicyFinding& finding = findings_[policy.uid];
  ++finding.captures;
  finding.last_capture_ns = firing.wall_ns;
  if (parts_.tell) parts_.tell(firing, text);
}

void TriggerController::TellMetrics() {
  for (const PolicyTriggerCounts& one : triggers_.Counts()) {
    const std::string& name = one.policy->name;
    const std::string space = one.policy->cluster ? "" : one.policy->namespace_name;
    MetricsRegistry& registry = parts_.registry;
    registry.Add(MetricId::kTriggerEvaluations, static_cast<double>(one.counts.evaluations),
                 {space, name});
    registry.Add(MetricId::kTriggerCaptures, static_cast<double>(one.counts.captures),
                 {space, name});
    for (size_t i = 0; i < kSuppressedNames.size(); ++i) {
      registry.Add(MetricId::kTriggerSuppressed, static_cast<double>(one.counts.suppressed[i]),
                   {space, name, std::string(kSuppressedNames[i])});
    }
  }
}

void TriggerController::FindUnserved() {
  for (auto& [uid, finding] : findings_) {
    if (finding.reason != kMetricUnavailable) continue;
    finding.failed = false;
    finding.reason = finding.message = "";
  }
  std::map<std::string, size_t> counts;  // by the policy's uid
  for (const UnservedRule& rule : triggers_.Unserved()) {
    const std::string& uid = rule.policy->uid;
    const std::string key = DisplayName(*rule.policy) + " " + rule.rule;
    if (std::ranges::find(warned_, key) == warned_.end()) {
      LOG(kWarn, "a rule of a trigger can never be true on this node",
          {{"policy", DisplayName(*rule.policy)}, {"rule", rule.rule}, {"reason", rule.reason}});
      warned_.push_back(key);
    }
    if (uid.empty()) continue;
    const k8s::TriggerSpec& trigger = *rule.policy->spec.trigger;
    PolicyFinding& finding = findings_[uid];
    finding.reason = kMetricUnavailable;
    finding.message += fmt::format("{}rule {} cannot hold here, {}",
                                   finding.message.empty() ? "" : "; ", rule.rule, rule.reason);
    finding.failed =
        trigger.combine == k8s::Combine::kAllOf || ++counts[uid] == trigger.rules.size();
  }
}

}  // namespace firetower::daemon
