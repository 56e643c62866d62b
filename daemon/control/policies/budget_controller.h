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

// Applies `limits.cpu` on the control thread: asks the governor for the rate of each policy, shows
// the result on /metrics and in the log, and reports it for policies of the API server.
class BudgetController {
 public:
  // Longer than reading a large program's symbols takes as a rule, so that its cost counts once.
  static constexpr int64_t kEveryNs = 10 * kNsPerSecond;
  // The share of the daemon's memory limit that it may use: memory that it does not see needs some
  // too.
  static constexpr double kMemoryShare = 0.9;

  // `registry` must outlive this. `memory_limit_bytes`: 0 if there is none.
  BudgetController(MetricsRegistry& registry, int64_t memory_limit_bytes);

  // Measures the cost and updates the rates, at most once every kEveryNs. `running` are the
  // policies; those that ask for nothing now keep their level. Returns true if a policy gets
  // another rate from now on.
  bool Look(const std::vector<PolicySchedule::Running>& running, const OwnTotals& totals,
            int64_t monotonic_ns);
  bool IsDue(int64_t monotonic_ns) const;

  const RateFactors& factors() const { return factors_; }
  // Adds the policies of the API server that get less than they asked for.
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
  std::string ReasonFor(const GovernedRate& rate) const;

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
