// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/rule.h"

#include <algorithm>

namespace firetower::daemon {
namespace {

double ThresholdOf(const k8s::TriggerRule& rule) {
  if (!rule.target) return 0;
  if (rule.target->type == k8s::TargetType::kUtilization)
    return static_cast<double>(rule.target->utilization_percent.value_or(0));
  const k8s::Quantity value = rule.target->value.value_or(k8s::Quantity{});
  return static_cast<double>(value.units) + static_cast<double>(value.nanos) / 1e9;
}

}  // namespace

Rule::Rule(const k8s::TriggerRule& rule, int64_t reset_percent)
    : metric(rule.metric),
      op(rule.op.value_or(k8s::Operator::kGreaterThan)),
      type(rule.target ? rule.target->type : k8s::TargetType::kValue),
      cpus(rule.cpus.value_or(k8s::CpuScope::kAll)),
      threshold(ThresholdOf(rule)),
      for_ns(rule.for_seconds.value_or(k8s::kDefaultForSeconds) * kNsPerSecond) {
  const int64_t percent =
      op == k8s::Operator::kGreaterThan ? 100 - reset_percent : 100 + reset_percent;
  reset_level = threshold * static_cast<double>(percent) / 100;
}

double Rule::Number(const MetricReading& reading) const {
  return type == k8s::TargetType::kUtilization ? reading.utilization_percent : reading.value;
}

bool Rule::Meets(double number) const {
  return op == k8s::Operator::kGreaterThan ? number > threshold : number < threshold;
}

bool Rule::Resets(double number) const {
  return op == k8s::Operator::kGreaterThan ? number <= reset_level : number >= reset_level;
}

void RuleState::Update(const Rule& rule, const MetricReading& reading) {
  fresh_ = static_cast<bool>(reading);
  holds_ = reset_ = false;
  if (!fresh_) return;
  if (rule.metric == k8s::Metric::kOomKill) return UpdateKills(reading);
  number_ = rule.Number(reading);
  reset_ = rule.Resets(number_);
  const int64_t before_ns = std::min(reading.from_ns, last_at_ns_.value_or(reading.from_ns));
  const bool gap = reading.at_ns - before_ns > kMaxGapNs;
  last_at_ns_ = reading.at_ns;
  if (!rule.Meets(number_)) {
    since_ns_.reset();
    return;
  }
  // The mean over a gap does not say that it held all the time.
  if (gap) since_ns_ = reading.at_ns;
  if (!since_ns_) since_ns_ = reading.from_ns;
  holds_ = reading.at_ns - *since_ns_ >= rule.for_ns;
}

// An instant: it holds on the look that finds a new one, and is past on the next.
void RuleState::UpdateKills(const MetricReading& reading) {
  number_ = reading.value - kills_;
  holds_ = number_ > 0;
  reset_ = !holds_;
  if (holds_) kills_ = reading.value;
}

}  // namespace firetower::daemon
