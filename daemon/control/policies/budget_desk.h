// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/health/governor.h"
#include "daemon/health/overhead.h"
#include "daemon/metrics/metrics_registry.h"
#include "daemon/policy/policy_report.h"
#include "daemon/policy/policy_selection.h"

namespace firetower::daemon {

// What the control thread does about `limits.cpu`: it asks the governor what each policy gets,
// shows that on /metrics and in the log, and tells it of the policies of the API server.
class BudgetDesk {
 public:
  // Reading a large program's symbols is over by then, as a rule, and counts once.
  static constexpr int64_t kEveryNs = 10 * kNsPerSecond;
  // Of the memory that the daemon may have: what it does not see of itself needs some too.
  static constexpr double kMemoryShare = 0.9;

  // `registry` outlives it. `memory_limit_bytes`: 0 if there is none.
  BudgetDesk(MetricsRegistry& registry, int64_t memory_limit_bytes);

  // `running`: policies that ask for nothing now keep what they were lowered to. True if one of
  // them gets another rate from now on. Before kEveryNs have passed since it last looked it does
  // nothing.
  bool Look(const std::vector<PolicySchedule::Running>& running, const OwnTotals& totals,
            int64_t monotonic_ns);
  bool IsDue(int64_t monotonic_ns) const;

  const RateFactors& factors() const { return factors_; }
  // Adds what policies of the API server get less than they asked for.
  void AddTo(PolicyFindings& findings) const;

 private:
  struct Lowered {
    std::string name;  // DisplayName
    std::string uid;
    uint32_t asked_hz = 0;
    uint32_t given_hz = 0;
    double factor = 1;
    std::string why;  // as of when it was lowered so far
  };

  void FeedMetrics(size_t full);
  void LogRates() const;
  std::string WhyNow(const GovernedRate& rate) const;

  MetricsRegistry& registry_;
  const int64_t memory_max_bytes_;
  Governor governor_;
  OwnTotals totals_;
  double cores_ = 0;
  int64_t last_ns_ = 0;  // monotonic; 0: never looked
  RateFactors factors_;
  std::vector<Lowered> lowered_;
};

}  // namespace firetower::daemon
