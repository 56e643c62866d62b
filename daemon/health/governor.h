// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace firetower::daemon {

// The properties of a policy in force that matter for its cost.
struct GovernedPolicy {
  std::string key;            // who it is, unique
  int64_t priority = 0;       // the higher, the later it is lowered
  uint32_t frequency_hz = 0;  // asked for; 0: nothing now
  double limit_cores = 0;     // its limits.cpu; 0: it has none
};

// The daemon's own cost since the last reading.
struct OwnCost {
  double cores = 0;              // CPU seconds each second, those of its BPF programs included
  int64_t memory_bytes = 0;      // resident
  int64_t memory_max_bytes = 0;  // 0: no limit
};

// The rate of a policy: frequency_hz times `factor`, at least 1 Hz; with factor 0 the policy is
// dropped. The factor applies to any rate that the policy asks for, even while it asks for none.
struct GovernedRate {
  std::string key;
  double factor = 1;
  uint32_t frequency_hz = 0;
};

enum class BudgetState : uint8_t { kWithin, kOverCpu, kOverMemory };

// Keeps the daemon within the budget of its policies, the sum of their limits.cpu. The daemon's
// cost is divided among policies by their share of the rates; policies without a limit have a share
// too, but are not lowered for the CPU budget. Over the budget, rates are halved in ascending
// priority, each down to 1 Hz, then policies are dropped in ascending priority. After some time
// below the budget the same steps are undone in reverse. Over its memory the governor lowers any
// policy. It has no input but its arguments: the caller passes the cost and the time since the last
// call.
//
// Cost is assumed to follow the sum of the rates, so one call may lower by several steps. Other
// cost (such as reading symbols at the start) is temporary, so only the second reading over the
// budget in a row counts. If a rise leads over the budget again, the next wait is twice as long.
class Governor {
 public:
  // Below this share of the budget for kRiseAfterNs, rates rise by a step. A step may double the
  // cost, or cost nothing if little of it follows the rates; only trying shows which.
  static constexpr double kRiseBelow = 0.7;
  static constexpr int64_t kRiseAfterNs = 30'000'000'000;
  static constexpr int64_t kMaxRiseAfterNs = 900'000'000'000;
  // The time below the budget after which an idle policy rises. The effect cannot be measured while
  // it asks for nothing, so this is longer than the pauses of most periodic policies.
  static constexpr int64_t kRiseIdleAfterNs = kMaxRiseAfterNs;
  // If the budget is exceeded within this time after a rise, the rise was the cause.
  static constexpr int64_t kBlameRiseNs = 60'000'000'000;

  // Returns the rates from now on, in the order of `policies`. A new policy starts at its full
  // rate; a policy that is gone is forgotten.
  std::vector<GovernedRate> Step(const std::vector<GovernedPolicy>& policies, const OwnCost& cost,
                                 int64_t interval_ns);

  // The state after the last Step.
  BudgetState state() const { return state_; }
  bool lowered() const { return lowered_; }              // any policy gets less than it asked for
  double budget_cores() const { return budget_cores_; }  // infinite while no policy has a limit
  uint64_t steps_down() const { return steps_down_; }    // for a counter

 private:
  struct Level {
    uint32_t halvings = 0;
    bool dropped = false;
    bool idle = false;  // at the last step it asked for nothing
  };
  using Order = std::vector<const GovernedPolicy*>;  // ascending priority

  static bool IsLowered(const Level& level);
  static uint32_t RateOf(const GovernedPolicy& policy, const Level& level);
  void Forget(const std::vector<GovernedPolicy>& policies);
  double TotalRate(const Order& order) const;
  // Returns the part of `cores` that belongs to policies with a limit.
  double LimitedCores(const Order& order, const Order& limited, double cores) const;
  bool LowerOnce(const Order& order);
  bool RaiseOnce(const Order& order, bool idle);
  void Lower(const Order& order, double cores);
  void Raise(const Order& order);

  std::unordered_map<std::string, Level> levels_;
  BudgetState state_ = BudgetState::kWithin;
  bool lowered_ = false;
  bool over_before_ = false;
  double budget_cores_ = 0;
  uint64_t steps_down_ = 0;
  int64_t calm_ns_ = 0;  // under kRiseBelow without a break, since the last rise
  int64_t room_ns_ = 0;  // under kRiseBelow without a break
  int64_t rise_after_ns_ = kRiseAfterNs;
  int64_t since_rise_ns_ = kBlameRiseNs;
};

}  // namespace firetower::daemon
