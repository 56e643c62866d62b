// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace firetower::daemon {

// A policy in force, as far as its cost goes.
struct GovernedPolicy {
  std::string key;            // who it is, unique
  int64_t priority = 0;       // the higher, the later it is lowered
  uint32_t frequency_hz = 0;  // asked for; 0: nothing now
  double limit_cores = 0;     // its limits.cpu; 0: it has none
};

// Cost of the daemon itself since the last reading.
struct OwnCost {
  double cores = 0;              // CPU seconds each second, those of its BPF programs included
  int64_t memory_bytes = 0;      // resident
  int64_t memory_max_bytes = 0;  // 0: no limit
};

// Rate that a policy gets: frequency_hz times `factor`, at least 1 Hz; with 0 it is dropped. The
// factor applies to any rate that it may ask for, also while it asks for none.
struct GovernedRate {
  std::string key;
  double factor = 1;
  uint32_t frequency_hz = 0;
};

enum class BudgetState : uint8_t { kWithin, kOverCpu, kOverMemory };

// Keeps the daemon within the budget of its policies, the sum of their limits.cpu: what it costs is
// theirs by their part of the rates, and policies without a limit have their part and are let be.
// Over the budget, rates are halved in ascending priority, each down to 1 Hz, then policies are
// dropped in ascending priority; under it for a while, the same way back. Over its memory it lowers
// any policy. Pure: who calls says what it cost and how long ago the last call was.
//
// Cost is taken to follow the sum of the rates, so one call may lower by several steps; what does
// not (reading symbols at the start) is waited for: only the second reading in a row that is over
// counts. A rise that put it over again makes the next wait twice as long.
class Governor {
 public:
  // Under this part of the budget for so long there is room to rise by a step. A step may double
  // the cost, or cost nothing where little of it follows the rates: trying tells.
  static constexpr double kRiseBelow = 0.7;
  static constexpr int64_t kRiseAfterNs = 30'000'000'000;
  static constexpr int64_t kMaxRiseAfterNs = 900'000'000'000;
  // Time with room after which an idle policy rises. Its cost cannot be tried while it asks for
  // nothing, so it keeps its level longer than the pauses of most periodic policies.
  static constexpr int64_t kRiseIdleAfterNs = kMaxRiseAfterNs;
  // Over the budget so soon after a rise, that rise was why.
  static constexpr int64_t kBlameRiseNs = 60'000'000'000;

  // The rates from now on, in the order of `policies`. A new policy starts unlowered, one that is
  // not there any more is forgotten.
  std::vector<GovernedRate> Step(const std::vector<GovernedPolicy>& policies, const OwnCost& cost,
                                 int64_t interval_ns);

  // State after the last Step.
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
