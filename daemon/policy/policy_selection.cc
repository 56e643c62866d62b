// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>

#include "base/clock.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/policy/policy_match.h"
#include "k8s/policy/served.h"

namespace firetower::daemon {
namespace {

using k8s::Match;
using k8s::ProfilingPolicy;

// A name may come that much later than the last sample of a policy whose deadline is over.
constexpr int64_t kLateNs = 60 * kNsPerSecond;

bool Periodic(const k8s::GeneralSpec& general) {
  return general.schedule == k8s::Schedule::kPeriodic &&
         general.duration_seconds < general.period_seconds;
}

bool InForce(const LoadedPolicy& loaded, int64_t wall_ns) {
  if (!IsActive(loaded, wall_ns)) return false;
  if (loaded.policy.spec.mode != k8s::Mode::kGeneral) return true;  // the others are continuous
  k8s::GeneralSpec general = k8s::EffectiveGeneral(loaded.policy.spec);
  if (!Periodic(general)) return true;
  // Periods are multiples on the wall clock, so that nodes profile the same minutes.
  return wall_ns / kNsPerSecond % general.period_seconds < general.duration_seconds;
}

StackParts PartsOf(k8s::Stacks stacks) {
  switch (stacks) {
    case k8s::Stacks::kUserAndKernel:
      return StackParts::kUserAndKernel;
    case k8s::Stacks::kUser:
      return StackParts::kUser;
    case k8s::Stacks::kKernel:
      return StackParts::kKernel;
  }
  return StackParts::kUserAndKernel;
}

// In force, and not one of scope Node that nothing on this node can fire.
bool IsRunning(const LoadedPolicy& loaded, int64_t wall_ns, const TriggerMoment& triggers) {
  return InForce(loaded, wall_ns) && (!k8s::CapturesNode(loaded.policy.spec) ||
                                      triggers.node_wide.contains(DisplayName(loaded.policy)));
}

// A rate of CPU samples that costs about as much, in Hertz; 0: it samples nothing. Waits and
// allocations are taken as the default rate: what they cost depends on the load.
uint32_t CostOf(const PolicyRates::Rate& rate) {
  uint32_t cost = rate.hertz;
  if (rate.min_wait_ns || rate.min_lock_ns) cost += k8s::kDefaultFrequencyHertz;
  if (rate.sample_bytes) cost += k8s::kDefaultFrequencyHertz;
  for (const EventRate& event : rate.events) {
    if (event.any()) cost += std::max<uint32_t>(event.hertz, k8s::kDefaultFrequencyHertz);
  }
  return cost;
}

bool IsDropped(const ProfilingPolicy& policy, const RateFactors& factors) {
  const auto factor = factors.find(DisplayName(policy));
  return factor != factors.end() && factor->second <= 0;
}

class PolicySelection : public Selection {
 public:
  // The policies lie in `owner`.
  PolicySelection(std::shared_ptr<const std::vector<LoadedPolicy>> owner,
                  std::vector<const LoadedPolicy*> policies, PolicyRates rates,
                  std::optional<ClusterView> view, bool settled)
      : owner_(std::move(owner)),
        policies_(std::move(policies)),
        rates_(std::move(rates)),
        view_(std::move(view)),
        settled_(settled) {
    std::stable_sort(policies_.begin(), policies_.end(), [](const auto* one, const auto* other) {
      return ComesBefore(one->policy, other->policy);
    });
    std::erase_if(policies_, [&](const LoadedPolicy* loaded) {
      return !rates_.Highest(loaded->policy).SamplesAny();
    });
    for (const LoadedPolicy* loaded : policies_) {
      const PolicyRates::Rate rate = rates_.Highest(loaded->policy);
      frequency_hz_ = std::max(frequency_hz_, rate.hertz);
      for (const std::optional<int64_t>& wait_ns : {rate.min_wait_ns, rate.min_lock_ns}) {
        if (wait_ns) min_wait_ns_ = std::min(min_wait_ns_.value_or(*wait_ns), *wait_ns);
      }
      for (Type type = 0; type < FT_TYPE_COUNT; ++type) {
        if (rate.Samples(type)) sampled_.set(type);
      }
    }
  }

  uint32_t frequency_hz() const override { return frequency_hz_; }
  bool everything() const override { return false; }

  bool filters() const override {
    return std::any_of(policies_.begin(), policies_.end(),
                       [](const LoadedPolicy* loaded) { return loaded->filter != nullptr; });
  }

  std::optional<CpuSet> cpus() const override { return CpusOf(FT_TYPE_CPU); }
  bool Samples(Type type) const override { return sampled_.test(type); }
  std::optional<int64_t> min_wait_ns() const override { return min_wait_ns_; }

  WantedEvents events() const override {
    WantedEvents wanted;
    for (size_t slot = 0; slot < wanted.size(); ++slot) {
      if (!Samples(static_cast<Type>(FT_TYPE_EVENT + slot))) continue;
      WantedEvent& event = wanted[slot];
      event.name = rates_.events()[slot];
      event.cpus = CpusOf(static_cast<Type>(FT_TYPE_EVENT + slot));
      for (const LoadedPolicy* loaded : policies_)
        event.rate.Raise(rates_.Highest(loaded->policy).events[slot]);
    }
    return wanted;
  }

 private:
  std::optional<CpuSet> CpusOf(Type type) const {
    CpuSet any;
    for (const LoadedPolicy* loaded : policies_) {
      if (!rates_.Highest(loaded->policy).Samples(type)) continue;
      if (!loaded->filter || !loaded->filter->cpus()) return std::nullopt;
      any |= *loaded->filter->cpus();
    }
    return any;
  }

  Decision DecideOn(const Container& container, Type type) const override {
    if (!Samples(type)) return {};
    std::shared_ptr<const k8s::Pod> pod;
    if (view_ && view_->pods) pod = view_->pods->Find(container.path.pod_uid);
    Decision decision;
    struct Filters {
      bool whole = false;
      std::vector<std::shared_ptr<const PolicyFilter>> of;
    } others, triggers;
    for (const LoadedPolicy* loaded : policies_) {
      const Match match = MatchOf(loaded->policy, container, pod.get());
      if (match == Match::kNo) continue;
      if (!Add(loaded->policy, container, type, match, decision)) continue;
      Filters& filters = loaded->policy.spec.mode == k8s::Mode::kTrigger ? triggers : others;
      filters.whole |= loaded->filter == nullptr;
      filters.of.push_back(loaded->filter);
    }
    // A trigger never widens the filter of another policy: its captures have the threads that the
    // other policies sample.
    Filters& filters = others.of.empty() ? triggers : others;
    if (!filters.whole) decision.filter = TaskFilter::Of(std::move(filters.of));
    if (!settled_ && decision.sampled && MayOptOut(container, pod.get())) decision.open = true;
    return decision;
  }

  // Its pod, or its pod's namespace, is not known yet, and may ask not to be profiled.
  bool MayOptOut(const Container& container, const k8s::Pod* pod) const {
    if (!view_ || !view_->pods || view_->ignore_opt_out || container.path.pod_uid.empty()) {
      return false;
    }
    return pod == nullptr ||
           (view_->namespaces && view_->NamespaceLabels(pod->namespace_name) == nullptr);
  }

  Match MatchOf(const ProfilingPolicy& policy, const Container& container,
                const k8s::Pod* pod) const {
    return k8s::CapturesNode(policy.spec) ? MatchNodeCapture(view_, container, pod)
                                          : MatchTargets(view_, policy, container, pod);
  }

  // False: it samples nothing of that type there now.
  bool Add(const ProfilingPolicy& policy, const Container& container, Type type, Match match,
           Decision& decision) const {
    const bool trigger = policy.spec.mode == k8s::Mode::kTrigger;
    const PolicyRates::Rate rate = rates_.For(policy, container);
    if (!rate.Samples(type)) return false;
    const k8s::ExportSpec& out = policy.spec.export_spec;
    // Samples for a trigger go to captures; while one is under way also to the metrics.
    const bool metrics =
        out.metrics.mode != k8s::MetricsMode::kDisabled && (!trigger || rate.captured);
    const bool store = out.object_store.mode != k8s::ObjectStoreMode::kDisabled && !trigger;
    if (!decision.sampled) {
      decision.sampled = true;
      decision.stacks = PartsOf(policy.spec.stacks);
      decision.to_metrics = decision.to_store = false;
      decision.retention = k8s::RetentionClass::kShort;
    }
    NoteRate(rate, type, decision);
    decision.to_metrics |= metrics;
    decision.to_store |= store;
    if (metrics) {
      decision.top_functions =
          std::max(decision.top_functions, static_cast<size_t>(out.metrics.top_functions));
    }
    if (store) decision.retention = std::max(decision.retention, out.object_store.retention_class);
    decision.open |= match == Match::kOpen;
    if (trigger) {
      const int64_t before_ns = policy.spec.trigger->capture.pre_trigger_seconds * kNsPerSecond;
      decision.record_ns = std::max({decision.record_ns, before_ns, int64_t{1}});
      decision.recorded_for.push_back(ShortName(policy));
    }
    if (match == Match::kYes && (!trigger || metrics)) {
      decision.policies.push_back(ShortName(policy));
    }
    return true;
  }

  void NoteRate(const PolicyRates::Rate& rate, Type type, Decision& decision) const {
    if (type == FT_TYPE_CPU) decision.frequency_hz = std::max(decision.frequency_hz, rate.hertz);
    if (type >= FT_TYPE_EVENT) decision.event = rates_.events()[type - FT_TYPE_EVENT];
    if (type == FT_TYPE_MEMORY) {
      decision.in_use |= rate.in_use;
      const bool first = decision.sample_bytes == 0;
      decision.sample_bytes =
          first ? *rate.sample_bytes : std::min(decision.sample_bytes, *rate.sample_bytes);
    }
    if (!IsWait(type)) return;
    const int64_t wait_ns = type == FT_TYPE_LOCK ? *rate.min_lock_ns : *rate.min_wait_ns;
    const bool first = decision.min_wait_ns == 0;
    decision.min_wait_ns = first ? wait_ns : std::min(decision.min_wait_ns, wait_ns);
  }

  const std::shared_ptr<const std::vector<LoadedPolicy>> owner_;
  std::vector<const LoadedPolicy*> policies_;
  const PolicyRates rates_;
  const std::optional<ClusterView> view_;
  const bool settled_;  // no answer is left open for what may still come
  uint32_t frequency_hz_ = 1;
  std::optional<int64_t> min_wait_ns_;
  std::bitset<FT_TYPE_COUNT> sampled_;
};

}  // namespace

std::string ShortName(const ProfilingPolicy& policy) {
  return policy.cluster ? policy.name : policy.namespace_name + "/" + policy.name;
}

PolicySchedule::PolicySchedule(std::vector<LoadedPolicy> policies, uint32_t ceiling_hz,
                               EventNames events)
    : ceiling_hz_(ceiling_hz), events_(std::move(events)) {
  for (LoadedPolicy& loaded : policies) {
    const std::optional<k8s::FilterSpec>& filter = loaded.policy.spec.filter;
    loaded.filter = filter ? std::make_shared<const PolicyFilter>(*filter) : nullptr;
  }
  policies_ = std::make_shared<const std::vector<LoadedPolicy>>(std::move(policies));
}

template <typename Wanted>
std::shared_ptr<const Selection> PolicySchedule::Select(Wanted wanted,
                                                        std::optional<ClusterView> view,
                                                        PolicyRates rates, bool settled) const {
  const k8s::Labels* node = view ? view->NodeLabels() : nullptr;
  std::vector<const LoadedPolicy*> chosen;
  for (const LoadedPolicy& loaded : *policies_) {
    if (!wanted(loaded)) continue;
    if (view && k8s::MatchNode(loaded.policy.spec, node).match == Match::kNo) continue;
    chosen.push_back(&loaded);
  }
  return std::make_shared<PolicySelection>(policies_, std::move(chosen), std::move(rates),
                                           std::move(view), settled);
}

std::shared_ptr<const Selection> PolicySchedule::At(int64_t wall_ns,
                                                    std::optional<ClusterView> view,
                                                    TriggerMoment triggers,
                                                    RateFactors factors) const {
  const auto wanted = [&](const LoadedPolicy& loaded) {
    return IsRunning(loaded, wall_ns, triggers);
  };
  return Select(wanted, std::move(view),
                PolicyRates(ceiling_hz_, events_, triggers.captures, std::move(factors)), false);
}

std::vector<PolicySchedule::Running> PolicySchedule::RunningAt(
    int64_t wall_ns, const std::optional<ClusterView>& view, const TriggerMoment& triggers,
    const RateFactors& factors) const {
  const k8s::Labels* node = view ? view->NodeLabels() : nullptr;
  const PolicyRates rates(ceiling_hz_, events_, triggers.captures, {});
  std::vector<Running> running;
  for (const LoadedPolicy& loaded : *policies_) {
    if (!IsActive(loaded, wall_ns)) continue;
    if (view && k8s::MatchNode(loaded.policy.spec, node).match == Match::kNo) continue;
    // A dropped policy is not armed, so nothing is known that it could fire on.
    const bool asks = IsDropped(loaded.policy, factors) ? InForce(loaded, wall_ns)
                                                        : IsRunning(loaded, wall_ns, triggers);
    running.push_back(
        {{policies_, &loaded.policy}, asks ? CostOf(rates.HighestAsked(loaded.policy)) : 0});
  }
  return running;
}

std::vector<PolicySchedule::Armed> PolicySchedule::ArmedAt(
    int64_t wall_ns, const std::optional<ClusterView>& view,
    std::span<const std::shared_ptr<const Container>> containers,
    const RateFactors& factors) const {
  const k8s::Labels* node = view ? view->NodeLabels() : nullptr;
  std::vector<Armed> armed;
  for (const LoadedPolicy& loaded : *policies_) {
    const ProfilingPolicy& policy = loaded.policy;
    if (policy.spec.mode != k8s::Mode::kTrigger || !InForce(loaded, wall_ns)) continue;
    if (IsDropped(policy, factors)) continue;
    if (view && k8s::MatchNode(policy.spec, node).match == Match::kNo) continue;
    armed.push_back({{policies_, &policy}, {}});
    for (const std::shared_ptr<const Container>& container : containers) {
      std::shared_ptr<const k8s::Pod> pod;
      if (view && view->pods) pod = view->pods->Find(container->path.pod_uid);
      if (MatchTargets(view, policy, *container, pod.get()) != Match::kYes) continue;
      armed.back().targets.push_back(container);
    }
  }
  return armed;
}

std::shared_ptr<const Selection> PolicySchedule::AtAnyTime(const ClusterView& view,
                                                           int64_t wall_ns) const {
  const auto wanted = [&](const LoadedPolicy& loaded) {
    return IsActive(loaded, wall_ns - kLateNs);
  };
  return Select(wanted, view, PolicyRates(ceiling_hz_, events_, {}, {}), true);
}

std::optional<int64_t> PolicySchedule::NextChange(int64_t wall_ns) const {
  std::optional<int64_t> next;
  auto consider = [&](int64_t at_ns) {
    if (at_ns > wall_ns && (!next || at_ns < *next)) next = at_ns;
  };
  for (const LoadedPolicy& loaded : *policies_) {
    if (!IsActive(loaded, wall_ns)) continue;
    if (loaded.policy.spec.active_deadline_seconds) consider(DeadlineNs(loaded));
    if (loaded.policy.spec.mode != k8s::Mode::kGeneral) continue;
    k8s::GeneralSpec general = k8s::EffectiveGeneral(loaded.policy.spec);
    if (!Periodic(general)) continue;
    int64_t period_ns = general.period_seconds * kNsPerSecond;
    int64_t begin_ns = wall_ns - wall_ns % period_ns;
    consider(begin_ns + general.duration_seconds * kNsPerSecond);
    consider(begin_ns + period_ns);
  }
  return next;
}

std::vector<std::string> PolicySchedule::Warnings(bool in_cluster) const {
  std::vector<std::string> warnings;
  for (const LoadedPolicy& loaded : *policies_) {
    const ProfilingPolicy& policy = loaded.policy;
    auto warn = [&](std::string_view text) {
      warnings.push_back(fmt::format("{} ({}): {}", DisplayName(policy), policy.source, text));
    };
    for (const std::string& message : k8s::Served(policy).messages) warn(message);
    if (policy.spec.filter && policy.spec.filter->cpus) {
      Result<std::vector<int>> cpus = ParseCpuList(*policy.spec.filter->cpus);
      if (!cpus) warn("filter.cpus: " + cpus.error().message() + ": it matches nothing");
    }
    if (in_cluster) continue;
    if (SelectsLabels(policy.spec.targets.pod_selector)) {
      warn(
          "podSelector needs labels, which are unknown without an API server: it matches no "
          "container; write matchLabels: {} for all, or use containers.include");
    }
    if (!policy.spec.targets.workload_refs.empty()) {
      warn("workloadRefs are unknown without an API server: they match nothing");
    }
    if (NeedsLabels(policy.spec)) {
      warn(
          "namespaceSelector or nodeSelector needs labels, which are unknown without an API "
          "server: the policy matches nothing");
    }
  }
  return warnings;
}

}  // namespace firetower::daemon
