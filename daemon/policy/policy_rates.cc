// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_rates.h"

#include <algorithm>

#include "base/clock.h"

namespace firetower::daemon {

namespace {

// The rates of a policy that is always on, whatever it records.
bool IsArmed(const k8s::PolicySpec& spec, bool captured) {
  return spec.mode != k8s::Mode::kTrigger || captured || spec.trigger->armed_frequency_hertz > 0;
}

}  // namespace

int64_t AskedHertz(const k8s::PolicySpec& spec, bool captured) {
  const int64_t hertz = k8s::CpuFrequencyHertz(spec);
  if (hertz == 0 || spec.mode != k8s::Mode::kTrigger) return hertz;
  const k8s::TriggerSpec& trigger = *spec.trigger;
  return captured ? std::max(trigger.armed_frequency_hertz, trigger.capture.frequency_hertz)
                  : trigger.armed_frequency_hertz;
}

bool PolicyRates::Rate::Samples(Type type) const {
  return type == FT_TYPE_CPU ? hertz > 0 : type == FT_TYPE_OFFCPU && min_wait_ns.has_value();
}

PolicyRates::Rate PolicyRates::Asked(const k8s::ProfilingPolicy& policy, bool captured) const {
  Rate rate;
  rate.captured = captured;
  rate.hertz = std::min(static_cast<uint32_t>(AskedHertz(policy.spec, captured)), ceiling_hz_);
  const std::optional<int64_t> wait_us = k8s::MinBlockMicroseconds(policy.spec);
  if (wait_us && IsArmed(policy.spec, captured)) rate.min_wait_ns = *wait_us * 1000;
  return rate;
}

PolicyRates::Rate PolicyRates::Given(const k8s::ProfilingPolicy& policy, Rate asked) const {
  const auto factor = factors_.find(DisplayName(policy));
  if (factor == factors_.end()) return asked;
  if (factor->second <= 0) return {.hertz = 0, .min_wait_ns = {}, .captured = asked.captured};
  if (asked.hertz > 0)
    asked.hertz = std::max(static_cast<uint32_t>(asked.hertz * factor->second), 1u);
  // Waits of half the length are about twice as many.
  if (asked.min_wait_ns)
    asked.min_wait_ns =
        static_cast<int64_t>(static_cast<double>(*asked.min_wait_ns) / factor->second);
  return asked;
}

PolicyRates::Rate PolicyRates::For(const k8s::ProfilingPolicy& policy,
                                   const Container& container) const {
  const bool captured =
      policy.spec.mode == k8s::Mode::kTrigger &&
      std::ranges::any_of(captures_, [&](const ActiveCapture& capture) {
        return capture.policy == DisplayName(policy) && capture.subject.Takes(container);
      });
  return Given(policy, Asked(policy, captured));
}

PolicyRates::Rate PolicyRates::HighestAsked(const k8s::ProfilingPolicy& policy) const {
  return Asked(policy, std::ranges::any_of(captures_, [&](const ActiveCapture& capture) {
                 return capture.policy == DisplayName(policy);
               }));
}

PolicyRates::Rate PolicyRates::Highest(const k8s::ProfilingPolicy& policy) const {
  return Given(policy, HighestAsked(policy));
}

}  // namespace firetower::daemon
