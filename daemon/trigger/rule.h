// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "daemon/trigger/firing.h"
#include "daemon/trigger/metric_source.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// A policy's rule in numbers.
struct Rule {
  Rule(const k8s::TriggerRule& rule, int64_t reset_percent);

  bool OfNode() const { return metric > k8s::Metric::kOomKill; }
  double Number(const MetricReading& reading) const;
  bool Meets(double number) const;
  // Tells whether the number is so far on the other side of the threshold that the next capture may
  // come.
  bool Resets(double number) const;

  k8s::Metric metric;
  k8s::Operator op;
  k8s::TargetType type;
  k8s::CpuScope cpus;
  double threshold = 0;
  double reset_level = 0;
  int64_t for_ns = 0;
};

// The state of a rule on one target. Its only input are readings, which have their times.
//
// A missing reading is neutral: a rule that holds continues to hold, but does not fire on it. If
// readings are more than kMaxGapNs apart, the time between is unknown, and forSeconds starts again.
class RuleState {
 public:
  // Allows for two failed looks in a row, or for a delay of that length on a busy machine.
  static constexpr int64_t kMaxGapNs = 5 * kNsPerSecond;

  // `kills`: for OOMKill, the number of kills before the rule was armed.
  explicit RuleState(double kills = 0) : kills_(kills) {}

  void Update(const Rule& rule, const MetricReading& reading);

  // The state after the last Update. Without a reading all are false.
  bool fresh() const { return fresh_; }
  bool holds() const { return holds_; }  // for all of forSeconds
  bool reset() const { return reset_; }
  double number() const { return number_; }

 private:
  void UpdateKills(const MetricReading& reading);

  bool fresh_ = false;
  bool holds_ = false;
  bool reset_ = false;
  double number_ = 0;
  double kills_ = 0;
  std::optional<int64_t> since_ns_;  // met without a break from then on
  std::optional<int64_t> last_at_ns_;
};

}  // namespace firetower::daemon
