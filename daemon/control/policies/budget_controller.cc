// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/budget_controller.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace firetower::daemon {
namespace {

// The limit of a policy is not part of the budget while the policy costs nothing: between its
// periods, or while it waits for targets that cannot come.
double LimitOf(const PolicySchedule::Running& running) {
  const k8s::PolicySpec& spec = running.policy->spec;
  if (running.frequency_hz == 0 || !spec.limits) return 0;
  return static_cast<double>(spec.limits->cpu.units) + spec.limits->cpu.nanos / 1e9;
}

}  // namespace

BudgetController::BudgetController(MetricsRegistry& registry, int64_t memory_limit_bytes)
    : registry_(registry),
      memory_max_bytes_(
          static_cast<int64_t>(static_cast<double>(memory_limit_bytes) * kMemoryShare)) {}

bool BudgetController::IsDue(int64_t monotonic_ns) const {
  return last_ns_ == 0 || monotonic_ns - last_ns_ >= kEveryNs;
}

bool BudgetController::Look(const std::vector<PolicySchedule::Running>& running,
                            const OwnTotals& totals, int64_t monotonic_ns) {
  if (!IsDue(monotonic_ns)) return false;
  const int64_t before_ns = std::exchange(last_ns_, monotonic_ns);
  const OwnTotals before = std::exchange(totals_, totals);
  if (before_ns == 0) return false;
  const int64_t interval_ns = monotonic_ns - before_ns;
  cores_ = static_cast<double>(totals.cpu_ns - before.cpu_ns) / static_cast<double>(interval_ns);

  std::vector<GovernedPolicy> policies;
  for (const PolicySchedule::Running& one : running) {
    policies.push_back(
        {DisplayName(*one.policy), one.policy->spec.priority, one.frequency_hz, LimitOf(one)});
  }
  const std::vector<GovernedRate> rates =
      governor_.Step(policies, {cores_, totals.memory_bytes, memory_max_bytes_}, interval_ns);
  RateFactors factors;
  std::vector<Lowered> lowered;
  size_t full = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    full += rates[i].factor >= 1 && running[i].frequency_hz > 0;
    if (rates[i].factor >= 1) continue;
    factors[rates[i].key] = rates[i].factor;
    lowered.push_back({rates[i].key, running[i].policy->uid, running[i].frequency_hz,
                       rates[i].frequency_hz, rates[i].factor, ReasonFor(rates[i])});
  }
  lowered_ = std::move(lowered);
  const bool changed = factors != factors_;
  factors_ = std::move(factors);
  FeedMetrics(full);
  if (changed) LogRates();
  return changed;
}

void BudgetController::FeedMetrics(size_t full) {
  const auto dropped = static_cast<size_t>(std::ranges::count(lowered_, 0.0, &Lowered::factor));
  const size_t lowered = lowered_.size() - dropped;
  registry_.Set(MetricId::kGovernedPolicies, static_cast<double>(full), {"full"});
  registry_.Set(MetricId::kGovernedPolicies, static_cast<double>(lowered), {"lowered"});
  registry_.Set(MetricId::kGovernedPolicies, static_cast<double>(dropped), {"dropped"});
  registry_.SetTotal(MetricId::kGovernorSteps, static_cast<double>(governor_.steps_down()));
  registry_.Set(MetricId::kBudgetCores, governor_.budget_cores());
  registry_.Set(MetricId::kBudgetExceeded, governor_.state() == BudgetState::kOverCpu ? 1 : 0,
                {"cpu"});
  registry_.Set(MetricId::kBudgetExceeded, governor_.state() == BudgetState::kOverMemory ? 1 : 0,
                {"memory"});
}

// A status is written again when its message changes: it says why the policy was lowered, not what
// the last reading was.
std::string BudgetController::ReasonFor(const GovernedRate& rate) const {
  const auto before = std::ranges::find(lowered_, rate.key, &Lowered::name);
  const bool raised = governor_.state() == BudgetState::kWithin;
  if (before != lowered_.end() && (raised || before->factor == rate.factor)) return before->why;
  if (governor_.state() == BudgetState::kOverMemory) {
    return fmt::format("more would take the agent above {} MiB of memory", memory_max_bytes_ >> 20);
  }
  return fmt::format("more would cost the node above limits.cpu of its policies, {:.3g}m together",
                     governor_.budget_cores() * 1e3);
}

void BudgetController::LogRates() const {
  LOG(kWarn, lowered_.empty() ? "within the budget again" : "over the budget",
      {{"cores", cores_},
       {"budget_cores", governor_.budget_cores()},
       {"memory_bytes", totals_.memory_bytes},
       {"memory_max_bytes", memory_max_bytes_}});
  for (const Lowered& one : lowered_) {
    LOG(kWarn, one.factor == 0 ? "policy dropped" : "policy lowered",
        {{"policy", one.name}, {"hertz", one.given_hz}, {"asked", one.asked_hz}});
  }
}

void BudgetController::AddTo(PolicyFindings& findings) const {
  for (const Lowered& one : lowered_) {
    if (one.uid.empty()) continue;
    PolicyFinding& finding = findings[one.uid];
    finding.dropped = one.factor == 0;
    if (finding.failed) continue;
    finding.failed = finding.dropped;
    finding.reason = "BudgetExceeded";
    finding.message = one.factor == 0
                          ? "not sampled: " + one.why
                          : fmt::format("sampled at {:.3g} % of the rate it asks for: {}",
                                        one.factor * 100, one.why);
  }
}

}  // namespace firetower::daemon
