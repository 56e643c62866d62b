// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/governor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace firetower::daemon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

bool Governor::IsLowered(const Level& level) { return level.dropped || level.halvings > 0; }

uint32_t Governor::RateOf(const GovernedPolicy& policy, const Level& level) {
  if (level.dropped || policy.frequency_hz == 0) return 0;
  return std::max(policy.frequency_hz >> std::min(level.halvings, 31u), 1u);
}

std::vector<GovernedRate> Governor::Step(const std::vector<GovernedPolicy>& policies,
                                         const OwnCost& cost, int64_t interval_ns) {
  Forget(policies);
  Order order, limited;
  budget_cores_ = 0;
  for (const GovernedPolicy& policy : policies) order.push_back(&policy);
  std::stable_sort(order.begin(), order.end(), [](const auto* one, const auto* other) {
    return one->priority < other->priority;
  });
  for (const GovernedPolicy* policy : order) {
    if (policy->limit_cores <= 0) continue;
    limited.push_back(policy);
    budget_cores_ += policy->limit_cores;
  }
  if (limited.empty()) budget_cores_ = kInfinity;
  const double cores = LimitedCores(order, limited, cost.cores);
  state_ = BudgetState::kWithin;
  if (cost.memory_max_bytes > 0 && cost.memory_bytes > cost.memory_max_bytes)
    state_ = BudgetState::kOverMemory;
  if (cores > budget_cores_) state_ = BudgetState::kOverCpu;

  const bool over = state_ != BudgetState::kWithin;
  since_rise_ns_ = std::min(since_rise_ns_ + interval_ns, kBlameRiseNs);
  for (const GovernedPolicy* policy : order) {
    Level& level = levels_[policy->key];
    // The room that there was while it asked for nothing is none for it.
    if (level.idle && policy->frequency_hz > 0) calm_ns_ = 0;
    level.idle = policy->frequency_hz == 0;
  }
  const bool room = !over && cores <= budget_cores_ * kRiseBelow;
  calm_ns_ = room ? calm_ns_ + interval_ns : 0;
  room_ns_ = room ? room_ns_ + interval_ns : 0;
  if (over && over_before_) Lower(state_ == BudgetState::kOverCpu ? limited : order, cores);
  if (!over) Raise(order);
  over_before_ = over;

  std::vector<GovernedRate> rates;
  lowered_ = false;
  for (const GovernedPolicy& policy : policies) {
    const Level& level = levels_[policy.key];
    const double factor = level.dropped ? 0 : std::ldexp(1.0, -static_cast<int>(level.halvings));
    lowered_ |= factor < 1;
    rates.push_back({policy.key, factor, RateOf(policy, level)});
  }
  return rates;
}

void Governor::Forget(const std::vector<GovernedPolicy>& policies) {
  std::unordered_map<std::string, Level> kept;
  for (const GovernedPolicy& policy : policies) kept[policy.key] = levels_[policy.key];
  levels_ = std::move(kept);
}

double Governor::TotalRate(const Order& order) const {
  double total = 0;
  for (const GovernedPolicy* policy : order) total += RateOf(*policy, levels_.at(policy->key));
  return total;
}

double Governor::LimitedCores(const Order& order, const Order& limited, double cores) const {
  const double all = TotalRate(order);
  // While nothing is sampled, no policy causes the cost: policies dropped because of a peak come
  // back.
  return all > 0 ? cores * TotalRate(limited) / all : 0;
}

bool Governor::LowerOnce(const Order& order) {
  for (const GovernedPolicy* policy : order) {
    Level& level = levels_[policy->key];
    if (RateOf(*policy, level) <= 1) continue;
    ++level.halvings;
    return true;
  }
  for (const GovernedPolicy* policy : order) {
    Level& level = levels_[policy->key];
    if (RateOf(*policy, level) == 0) continue;
    level.dropped = true;
    return true;
  }
  return false;
}

// The last step first. `idle`: also of a policy that asks for nothing now.
bool Governor::RaiseOnce(const Order& order, bool idle) {
  for (auto policy = order.rbegin(); policy != order.rend(); ++policy) {
    Level& level = levels_[(*policy)->key];
    if (!level.dropped) continue;
    level.dropped = false;
    return true;
  }
  for (auto policy = order.rbegin(); policy != order.rend(); ++policy) {
    Level& level = levels_[(*policy)->key];
    if (level.halvings == 0 || ((*policy)->frequency_hz == 0 && !idle)) continue;
    --level.halvings;
    return true;
  }
  return false;
}

void Governor::Lower(const Order& order, double cores) {
  if (since_rise_ns_ < kBlameRiseNs) rise_after_ns_ = std::min(rise_after_ns_ * 2, kMaxRiseAfterNs);
  since_rise_ns_ = kBlameRiseNs;
  const double before = TotalRate(order);
  while (LowerOnce(order)) {
    ++steps_down_;
    if (cores * TotalRate(order) <= budget_cores_ * before) return;
  }
}

void Governor::Raise(const Order& order) {
  if (calm_ns_ < rise_after_ns_) return;
  calm_ns_ = 0;
  if (RaiseOnce(order, room_ns_ >= kRiseIdleAfterNs)) {
    since_rise_ns_ = 0;
  } else if (std::ranges::none_of(levels_, [](const auto& one) { return IsLowered(one.second); })) {
    rise_after_ns_ = kRiseAfterNs;  // All policies have had their full rates for long, without a
                                    // problem.
  }
}

}  // namespace firetower::daemon
