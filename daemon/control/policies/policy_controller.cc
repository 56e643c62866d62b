// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/policy_controller.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/log.h"
#include "daemon/control/agent_options.h"
#include "service/policies/policy_states.h"

namespace firetower::daemon {
namespace {

// Pods change many at a time; each time every gate is set anew.
constexpr int64_t kViewEveryNs = 200 * kNsPerMs;

bool IsReadable(const pollfd& polled) { return (polled.revents & POLLIN) != 0; }

}  // namespace

PolicyController::PolicyController(const Parts& parts, std::optional<PolicyStore> files)
    : parts_(parts),
      files_(std::move(files)),
      objects_(parts.cluster.policies()),
      frequency_hz_(static_cast<uint32_t>(parts.config.default_frequency_hertz)),
      budget_(parts.registry, parts.config.memory_limit_bytes),
      history_(StateFolder(parts.config) + "/captures", parts.clock.WallNs()),
      triggers_({parts.readings, parts.registry, parts.config.node_name,
                 [this](CaptureOrder order) { parts_.exporter.Order(std::move(order)); },
                 [this](const Firing& firing, const std::string& text) {
                   parts_.cluster.PostFiring(firing, text);
                 },
                 &history_}) {
  triggers_.Remember(parts.clock.MonotonicNs(), parts.clock.WallNs());
}

void PolicyController::TakePolicies() {
  if (!files_ && objects_ == nullptr) {
    parts_.pipeline.SetSelection(SelectEverything(frequency_hz_));
    return;
  }
  policies_taken_ns_ = parts_.clock.MonotonicNs();
  PolicySet set = MergePolicies(files_ ? &*files_ : nullptr, objects_);
  policy_log_.TakeErrors(set.errors);
  ShowPolicies(set);
  const EventNames& events = TypesOf(set);
  schedule_ = std::make_shared<const PolicySchedule>(
      std::move(set.policies), static_cast<uint32_t>(parts_.config.max_frequency_hertz), events);
  published_schedule_.Publish(schedule_);
  std::ranges::copy(schedule_->Warnings(parts_.cluster.view_fd() >= 0),
                    std::back_inserter(set.warnings));
  policy_log_.TakeWarnings(std::move(set.warnings));
  refused_policies_.store(set.refused, std::memory_order_relaxed);
  LOG(kInfo, "policies", {{"accepted", schedule_->size()}, {"refused", set.refused}});
  if (schedule_->size() == 0 && KnowsAllPolicies())
    LOG(kWarn, "no policy is in force: nothing is profiled", {{"refused", set.refused}});
  ApplySchedule();
}

void PolicyController::ShowPolicies(const PolicySet& set) {
  double kinds[2] = {0, 0};
  for (const LoadedPolicy& loaded : set.policies) ++kinds[loaded.policy.cluster ? 1 : 0];
  MetricsRegistry& registry = parts_.registry;
  registry.Set(MetricId::kPolicies, kinds[0], {"ProfilingPolicy", "accepted"});
  registry.Set(MetricId::kPolicies, kinds[1], {"ClusterProfilingPolicy", "accepted"});
  registry.Set(MetricId::kPolicies, static_cast<double>(set.refused), {"unknown", "refused"});
  auto states = std::make_shared<std::vector<query::PolicyState>>();
  for (const LoadedPolicy& loaded : set.policies) {
    query::PolicyState state = service::StateOf(loaded.policy);
    state.health =
        loaded.policy.spec.suspend ? query::PolicyHealth::kOff : query::PolicyHealth::kOk;
    if (loaded.policy.spec.suspend) state.reason = "Suspended";
    states->push_back(std::move(state));
  }
  for (const k8s::PolicyError& error : set.errors) states->push_back(service::RefusedState(error));
  states_.Publish(std::move(states));
}

std::vector<query::PolicyState> PolicyController::States() const {
  const auto states = states_.Get();
  return states ? *states : std::vector<query::PolicyState>();
}

const EventNames& PolicyController::TypesOf(const PolicySet& set) {
  std::set<std::string> wanted;
  for (const LoadedPolicy& loaded : set.policies) {
    for (const k8s::EventSpec& event : k8s::EventsOf(loaded.policy)) wanted.insert(event.name);
  }
  const EventNames& names = slots_.Assign(wanted, parts_.clock.MonotonicNs());
  std::erase_if(wanted, [&](const std::string& name) { return SlotOf(names, name).has_value(); });
  for (const std::string& name : wanted) {
    if (!crowded_events_.contains(name))
      LOG(kWarn, "too many different events: one is not sampled", {{"event", name}});
  }
  crowded_events_ = std::move(wanted);
  return names;
}

PolicyController::PollSet PolicyController::GetPollSet() const {
  return {{{files_ ? files_->fd() : -1, POLLIN, 0},
           {objects_ != nullptr ? objects_->fd() : -1, POLLIN, 0},
           {parts_.cluster.view_fd(), POLLIN, 0}}};
}

int64_t PolicyController::WaitNs() const {
  int64_t wait_ns = std::numeric_limits<int64_t>::max();
  if (schedule_change_ns_)
    wait_ns = std::max<int64_t>(*schedule_change_ns_ - parts_.clock.WallNs(), 0);
  const int64_t now_ns = parts_.clock.MonotonicNs();
  if (view_due_ns_) wait_ns = std::min(wait_ns, *view_due_ns_ - now_ns);
  if (triggers_.armed()) wait_ns = std::min(wait_ns, next_triggers_ns_ - now_ns);
  return wait_ns;
}

void PolicyController::Step(const PollSet& polled) {
  bool changed = IsReadable(polled[0]) && files_->Reload();
  changed |= IsReadable(polled[1]) && objects_->Reload();
  if (changed) TakePolicies();
  if (IsReadable(polled[2])) {
    parts_.cluster.ClearViewChanged();
    if (!view_due_ns_) view_due_ns_ = parts_.clock.MonotonicNs() + kViewEveryNs;
  }
  if (!schedule_) return;
  const bool due = schedule_change_ns_ && parts_.clock.WallNs() >= *schedule_change_ns_;
  const bool view_due = view_due_ns_ && parts_.clock.MonotonicNs() >= *view_due_ns_;
  const bool captures = CheckTriggers();
  if (due || view_due || captures) ApplySchedule();
}

void PolicyController::Refresh() {
  // An event that found no number gets one when another's has rested.
  const int64_t now_ns = parts_.clock.MonotonicNs();
  if (!crowded_events_.empty() && now_ns - policies_taken_ns_ >= EventSlots::kRestNs)
    TakePolicies();
  if (schedule_ && CheckBudget()) ApplySchedule();
  parts_.events.Refresh();
  Report();
}

void PolicyController::ApplySchedule() {
  const int64_t now_ns = parts_.clock.WallNs();
  view_due_ns_.reset();
  Arm();
  std::shared_ptr<const Selection> selection =
      schedule_->At(now_ns, parts_.cluster.View(), triggers_.moment(), budget_.factors());
  schedule_change_ns_ = schedule_->NextChange(now_ns);
  frequency_hz_ = selection->frequency_hz();
  parts_.waits.Want(selection->min_wait_ns(), selection->Samples(FT_TYPE_LOCK));
  parts_.events.Want(selection->events());
  parts_.pipeline.SetSelection(selection);
  // The gate first: what is probed before it opens is dropped.
  parts_.allocations.Want(std::move(selection));
  Report();
}

TypeFaults PolicyController::FaultsOfTypes() const {
  AllocationSide::Faults allocations = parts_.allocations.faults();
  TypeFaults faults{.waits = parts_.waits.failure(),
                    .kernel_locks = parts_.waits.lock_failure(),
                    .events = parts_.events.failures(),
                    .allocations = std::move(allocations.failure),
                    .heaps = DescribeLeftOut(allocations.left_out),
                    .runtimes = {}};
  if (const std::shared_ptr<const RuntimeFacts> runtimes = parts_.exporter.runtime_facts()) {
    for (const auto& [policy, one] : runtimes->by_policy)
      faults.runtimes[policy] = fmt::format("{} ({}): {}", one.runtime, one.file, one.why);
  }
  for (const std::string& event : crowded_events_)
    faults.events[event] = fmt::format(
        "policies name more than the {} different events that a node samples; a number is free {} "
        "minutes after the last policy with it is gone",
        FT_MAX_EVENTS, EventSlots::kRestNs / kNsPerSecond / 60);
  return faults;
}

void PolicyController::Report() {
  PolicyFindings findings = triggers_.findings();
  budget_.AddTo(findings);
  parts_.cluster.Report(findings, parts_.feed.store_fails(), FaultsOfTypes());
}

bool PolicyController::CheckTriggers() {
  const int64_t now_ns = parts_.clock.MonotonicNs();
  triggers_.NoteOomKills(parts_.pipeline.TakeOomKills());
  if (now_ns < next_triggers_ns_) return false;
  next_triggers_ns_ = now_ns + TriggerController::kEveryNs;
  bool changed = false;
  if (auto containers = parts_.pipeline.containers();
      containers && containers != armed_containers_) {
    armed_containers_ = std::move(containers);
    changed = Arm();
  }
  if (triggers_.armed()) changed |= triggers_.Evaluate(now_ns, parts_.clock.WallNs());
  return changed;
}

bool PolicyController::Arm() {
  if (!armed_containers_) return false;
  const std::optional<ClusterView> view = parts_.cluster.View();
  return triggers_.Arm(
      schedule_->ArmedAt(parts_.clock.WallNs(), view, *armed_containers_, budget_.factors()),
      view ? view->pods.get() : nullptr);
}

bool PolicyController::CheckBudget() {
  const int64_t now_ns = parts_.clock.MonotonicNs();
  if (!budget_.IsDue(now_ns)) return false;
  return budget_.Look(schedule_->RunningAt(parts_.clock.WallNs(), parts_.cluster.View(),
                                           triggers_.moment(), budget_.factors()),
                      parts_.feed.own(), now_ns);
}

Decision PolicyController::Settled(const Container& container) const {
  const std::shared_ptr<const Selection> selection =
      published_schedule_.Get()->AtAnyTime(*parts_.cluster.View(), parts_.clock.WallNs());
  Decision settled = selection->Decide(container, FT_TYPE_CPU);
  for (Type type = FT_TYPE_CPU + 1; type < FT_TYPE_COUNT; ++type) {
    Decision other = selection->Decide(container, type);
    if (!settled.sampled) settled = std::move(other);
    if (!other.sampled) continue;
    settled.open |= other.open;
    settled.to_metrics |= other.to_metrics;
    settled.to_store |= other.to_store;
  }
  return settled;
}

// The policies of the API server are there only after its first answers.
bool PolicyController::KnowsAllPolicies() const {
  return objects_ == nullptr || parts_.cluster.Awaited().empty();
}

std::optional<PolicyFacts> PolicyController::Facts() const {
  const std::shared_ptr<const PolicySchedule> schedule = published_schedule_.Get();
  if (!schedule || !KnowsAllPolicies()) return std::nullopt;
  return PolicyFacts{schedule->size(), refused_policies_.load(std::memory_order_relaxed)};
}

}  // namespace firetower::daemon
