// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_rates.h"

#include <algorithm>

namespace firetower::daemon {

int64_t AskedHertz(const k8s::PolicySpec& spec, bool captured) {
  if (spec.mode != k8s::Mode::kTrigger) return k8s::CpuFrequencyHertz(spec);
  const k8s::TriggerSpec& trigger = *spec.trigger;
  return captured ? std::max(trigger.armed_frequency_hertz, trigger.capture.frequency_hertz)
                  : trigger.armed_frequency_hertz;
}

uint32_t PolicyRates::Asked(const k8s::ProfilingPolicy& policy, bool captured) const {
  return std::min(static_cast<uint32_t>(AskedHertz(policy.spec, captured)), ceiling_hz_);
}

uint32_t PolicyRates::Given(const k8s::ProfilingPolicy& policy, uint32_t asked_hz) const {
  const auto factor = factors_.find(DisplayName(policy));
  if (factor == factors_.end() || asked_hz == 0) return asked_hz;
  if (factor->second <= 0) return 0;
  return std::max(static_cast<uint32_t>(asked_hz * factor->second), 1u);
}

PolicyRates::Rate PolicyRates::For(const k8s::ProfilingPolicy& policy,
                                   const Container& container) const {
  Rate rate;
  rate.captured =
      policy.spec.mode == k8s::Mode::kTrigger &&
      std::ranges::any_of(captures_, [&](const ActiveCapture& capture) {
        return capture.policy == DisplayName(policy) && capture.subject.Takes(container);
      });
  rate.hertz = Given(policy, Asked(policy, rate.captured));
  return rate;
}

uint32_t PolicyRates::HighestAsked(const k8s::ProfilingPolicy& policy) const {
  return Asked(policy, std::ranges::any_of(captures_, [&](const ActiveCapture& capture) {
                 return capture.policy == DisplayName(policy);
               }));
}

uint32_t PolicyRates::Highest(const k8s::ProfilingPolicy& policy) const {
  return Given(policy, HighestAsked(policy));
}

}  // namespace firetower::daemon
