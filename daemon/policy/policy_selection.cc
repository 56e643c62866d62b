// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "daemon/capture/cpu_list.h"
#include "k8s/policy/match.h"
#include "k8s/policy/served.h"

namespace firetower::daemon {
namespace {

using k8s::Match;
using k8s::PathKind;
using k8s::ProfilingPolicy;

bool SelectsLabels(const std::optional<k8s::LabelSelector>& selector) {
  return selector.has_value() && !k8s::MatchesEverything(*selector);
}

// True if the policy can match nothing on a machine that knows no labels.
bool NeedsLabels(const k8s::PolicySpec& spec) {
  return SelectsLabels(spec.targets.namespace_selector) || SelectsLabels(spec.node_selector);
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// On a machine without an API server.
bool MatchesAlone(const ProfilingPolicy& policy, const Container& container) {
  const k8s::Targets& targets = policy.spec.targets;
  if (NeedsLabels(policy.spec)) return false;
  bool in_pod = container.path.kind == PathKind::kContainer ||
                container.path.kind == PathKind::kPodSandboxLevel;
  if (!in_pod) {
    return policy.cluster && targets.host_processes == k8s::HostProcesses::kInclude;
  }
  if (!targets.pod_selector.has_value() || SelectsLabels(targets.pod_selector)) return false;
  if (targets.containers.has_value()) {
    const std::string& name = container.labels.container;
    if (!targets.containers->include.empty() && !Contains(targets.containers->include, name)) {
      return false;
    }
    if (Contains(targets.containers->exclude, name)) return false;
  }
  const std::string& identity =
      container.path.pod_uid.empty() ? container.path.container_id : container.path.pod_uid;
  return k8s::InPercent(identity, targets.pod_percent);
}

// In a cluster, on a node that the policy takes.
Match MatchesIn(const ClusterView& view, const ProfilingPolicy& policy, const Container& container,
                const k8s::Pod* pod) {
  const k8s::Targets& targets = policy.spec.targets;
  const std::string& uid = container.path.pod_uid;
  if (uid.empty()) {
    const bool host = policy.cluster && targets.host_processes == k8s::HostProcesses::kInclude;
    return host ? Match::kYes : Match::kNo;
  }
  const k8s::Labels* labels = pod == nullptr ? nullptr : view.NamespaceLabels(pod->namespace_name);
  const auto opt_out = view.ignore_opt_out ? k8s::OptOut::kIgnored : k8s::OptOut::kHonoured;
  const Match taken = k8s::MatchPod(policy, pod, uid, labels, opt_out).match;
  if (taken == Match::kNo) return Match::kNo;
  const std::string& id = container.path.container_id;
  const Match named = k8s::MatchContainer(targets, pod, id).match;
  if (taken == Match::kYes || named == Match::kNo) return named;
  return Match::kOpen;
}

int64_t Deadline(const LoadedPolicy& loaded) {
  return loaded.policy.spec.active_deadline_seconds
             ? loaded.since_ns + *loaded.policy.spec.active_deadline_seconds * kNsPerSecond
             : std::numeric_limits<int64_t>::max();
}

bool Periodic(const k8s::GeneralSpec& general) {
  return general.schedule == k8s::Schedule::kPeriodic &&
         general.duration_seconds < general.period_seconds;
}

// Could ever be in force here.
bool Eligible(const LoadedPolicy& loaded) {
  const k8s::PolicySpec& spec = loaded.policy.spec;
  return k8s::Served(loaded.policy).served && !spec.suspend && k8s::CpuFrequencyHertz(spec) > 0;
}

bool InForce(const LoadedPolicy& loaded, int64_t wall_ns) {
  if (!Eligible(loaded) || wall_ns >= Deadline(loaded)) return false;
  if (loaded.policy.spec.mode == k8s::Mode::kFilter) return true;  // it is continuous
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

class PolicySelection : public Selection {
 public:
  // The policies lie in `owner`.
  PolicySelection(std::shared_ptr<const std::vector<LoadedPolicy>> owner,
                  std::vector<const LoadedPolicy*> policies, uint32_t ceiling_hz,
                  std::optional<ClusterView> view, bool settled)
      : owner_(std::move(owner)),
        policies_(std::move(policies)),
        ceiling_hz_(ceiling_hz),
        view_(std::move(view)),
        settled_(settled) {
    // Where two contradict, the first of these wins.
    std::stable_sort(policies_.begin(), policies_.end(), [](const auto* one, const auto* other) {
      const ProfilingPolicy& a = one->policy;
      const ProfilingPolicy& b = other->policy;
      if (a.spec.priority != b.spec.priority) return a.spec.priority > b.spec.priority;
      if (a.cluster != b.cluster) return !a.cluster;
      if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
      return DisplayName(a) < DisplayName(b);
    });
    for (const LoadedPolicy* loaded : policies_) {
      frequency_hz_ = std::max(frequency_hz_, RateOf(loaded->policy));
    }
  }

  Decision Decide(const Container& container) const override {
    std::shared_ptr<const k8s::Pod> pod;
    if (view_ && view_->pods) pod = view_->pods->Find(container.path.pod_uid);
    Decision decision;
    bool whole = false;
    std::vector<std::shared_ptr<const PolicyFilter>> filters;
    for (const LoadedPolicy* loaded : policies_) {
      const Match match = MatchOf(loaded->policy, container, pod.get());
      if (match == Match::kNo) continue;
      Add(loaded->policy, match, decision);
      whole |= loaded->filter == nullptr;
      filters.push_back(loaded->filter);
    }
    if (!whole) decision.filter = TaskFilter::Of(std::move(filters));
    if (!settled_ && decision.sampled && MayOptOut(container, pod.get())) decision.open = true;
    return decision;
  }

  uint32_t frequency_hz() const override { return frequency_hz_; }
  bool everything() const override { return false; }

  bool filters() const override {
    return std::any_of(policies_.begin(), policies_.end(),
                       [](const LoadedPolicy* loaded) { return loaded->filter != nullptr; });
  }

  std::optional<CpuSet> cpus() const override {
    CpuSet any;
    for (const LoadedPolicy* loaded : policies_) {
      if (!loaded->filter || !loaded->filter->cpus()) return std::nullopt;
      any |= *loaded->filter->cpus();
    }
    return any;
  }

 private:
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
    if (!view_) return MatchesAlone(policy, container) ? Match::kYes : Match::kNo;
    const Match match = MatchesIn(*view_, policy, container, pod);
    if (match != Match::kOpen) return match;
    // What is not there yet may come; but where not even a list came, nobody can tell.
    return view_->pods && (pod == nullptr || view_->namespaces) ? Match::kOpen : Match::kNo;
  }

  void Add(const ProfilingPolicy& policy, Match match, Decision& decision) const {
    const k8s::ExportSpec& out = policy.spec.export_spec;
    const bool metrics = out.metrics.mode != k8s::MetricsMode::kDisabled;
    const bool store = out.object_store.mode != k8s::ObjectStoreMode::kDisabled;
    if (!decision.sampled) {
      decision.sampled = decision.open = true;
      decision.stacks = PartsOf(policy.spec.stacks);
      decision.to_metrics = decision.to_store = false;
      decision.retention = k8s::RetentionClass::kShort;
    }
    decision.frequency_hz = std::max(decision.frequency_hz, RateOf(policy));
    decision.to_metrics |= metrics;
    decision.to_store |= store;
    if (metrics) {
      decision.top_functions =
          std::max(decision.top_functions, static_cast<size_t>(out.metrics.top_functions));
    }
    if (store) decision.retention = std::max(decision.retention, out.object_store.retention_class);
    if (match != Match::kYes) return;
    decision.open = false;
    decision.policies.push_back(policy.cluster ? policy.name
                                               : policy.namespace_name + "/" + policy.name);
  }

  uint32_t RateOf(const ProfilingPolicy& policy) const {
    return std::min(static_cast<uint32_t>(k8s::CpuFrequencyHertz(policy.spec)), ceiling_hz_);
  }

  const std::shared_ptr<const std::vector<LoadedPolicy>> owner_;
  std::vector<const LoadedPolicy*> policies_;
  const uint32_t ceiling_hz_;
  const std::optional<ClusterView> view_;
  const bool settled_;  // no answer is left open for what may still come
  uint32_t frequency_hz_ = 1;
};

}  // namespace

PolicySchedule::PolicySchedule(std::vector<LoadedPolicy> policies, uint32_t ceiling_hz)
    : ceiling_hz_(ceiling_hz) {
  for (LoadedPolicy& loaded : policies) {
    const std::optional<k8s::FilterSpec>& filter = loaded.policy.spec.filter;
    loaded.filter = filter ? std::make_shared<const PolicyFilter>(*filter) : nullptr;
  }
  policies_ = std::make_shared<const std::vector<LoadedPolicy>>(std::move(policies));
}

template <typename Wanted>
std::shared_ptr<const Selection> PolicySchedule::Select(Wanted wanted,
                                                        std::optional<ClusterView> view,
                                                        bool settled) const {
  const k8s::Labels* node = view ? view->NodeLabels() : nullptr;
  std::vector<const LoadedPolicy*> chosen;
  for (const LoadedPolicy& loaded : *policies_) {
    if (!wanted(loaded)) continue;
    if (view && k8s::MatchNode(loaded.policy.spec, node).match == Match::kNo) continue;
    chosen.push_back(&loaded);
  }
  return std::make_shared<PolicySelection>(policies_, std::move(chosen), ceiling_hz_,
                                           std::move(view), settled);
}

std::shared_ptr<const Selection> PolicySchedule::At(int64_t wall_ns,
                                                    std::optional<ClusterView> view) const {
  return Select([&](const LoadedPolicy& loaded) { return InForce(loaded, wall_ns); },
                std::move(view), false);
}

std::shared_ptr<const Selection> PolicySchedule::Whenever(const ClusterView& view) const {
  return Select(Eligible, view, true);
}

std::optional<int64_t> PolicySchedule::NextChange(int64_t wall_ns) const {
  std::optional<int64_t> next;
  auto consider = [&](int64_t at_ns) {
    if (at_ns > wall_ns && (!next || at_ns < *next)) next = at_ns;
  };
  for (const LoadedPolicy& loaded : *policies_) {
    if (!Eligible(loaded) || wall_ns >= Deadline(loaded)) continue;
    if (loaded.policy.spec.active_deadline_seconds) consider(Deadline(loaded));
    if (loaded.policy.spec.mode == k8s::Mode::kFilter) continue;
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
          "podSelector asks for labels, which are not known without an API server: it matches no "
          "container; write matchLabels: {} for all, or choose by containers.include");
    }
    if (!policy.spec.targets.workload_refs.empty()) {
      warn("workloadRefs are not known without an API server: they match nothing");
    }
    if (NeedsLabels(policy.spec)) {
      warn(
          "namespaceSelector or nodeSelector asks for labels, which are not known without an API "
          "server: the policy matches nothing");
    }
  }
  return warnings;
}

}  // namespace firetower::daemon
