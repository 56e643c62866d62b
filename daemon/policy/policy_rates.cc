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

std::optional<int64_t> ShortestWait(const k8s::PolicySpec& spec, k8s::ProfileType type) {
  const std::optional<int64_t> wait_us = k8s::MinBlockMicroseconds(spec, type);
  return wait_us ? std::optional(*wait_us * 1000) : std::nullopt;
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
  if (type >= FT_TYPE_EVENT) return events[type - FT_TYPE_EVENT].any();
  if (type == FT_TYPE_CPU) return hertz > 0;
  if (type == FT_TYPE_OFFCPU) return min_wait_ns.has_value();
  if (type == FT_TYPE_MEMORY) return sample_bytes.has_value();
  return type == FT_TYPE_LOCK && min_lock_ns.has_value();
}

bool PolicyRates::Rate::SamplesAny() const {
  for (Type type = 0; type < FT_TYPE_COUNT; ++type) {
    if (Samples(type)) return true;
  }
  return false;
}

PolicyRates::Rate PolicyRates::Asked(const k8s::ProfilingPolicy& policy, bool captured) const {
  Rate rate;
  rate.captured = captured;
  rate.hertz = std::min(static_cast<uint32_t>(AskedHertz(policy.spec, captured)), ceiling_hz_);
  if (!IsArmed(policy.spec, captured)) return rate;
  rate.min_wait_ns = ShortestWait(policy.spec, k8s::ProfileType::kOffCpu);
  rate.min_lock_ns = ShortestWait(policy.spec, k8s::ProfileType::kLock);
  rate.sample_bytes = k8s::SampleBytes(policy.spec);
  rate.in_use = k8s::SamplesInUse(policy.spec);
  for (const k8s::EventSpec& event : k8s::EventsOf(policy)) {
    const std::optional<size_t> slot = SlotOf(events_, event.name);
    if (!slot) continue;
    rate.events[*slot] = {
        .hertz = std::min(static_cast<uint32_t>(event.frequency_hertz.value_or(0)), ceiling_hz_),
        .period = static_cast<uint64_t>(event.period.value_or(0))};
  }
  return rate;
}

PolicyRates::Rate PolicyRates::Given(const k8s::ProfilingPolicy& policy, Rate asked) const {
  const auto factor = factors_.find(DisplayName(policy));
  if (factor == factors_.end()) return asked;
  if (factor->second <= 0) {
    Rate none;
    none.captured = asked.captured;
    return none;
  }
  const auto lower = [&](uint32_t& hertz) {
    if (hertz > 0) hertz = std::max(static_cast<uint32_t>(hertz * factor->second), 1u);
  };
  lower(asked.hertz);
  // Waits of half the length are about twice as many.
  for (std::optional<int64_t>* every :
       {&asked.min_wait_ns, &asked.min_lock_ns, &asked.sample_bytes}) {
    if (*every) *every = static_cast<int64_t>(static_cast<double>(**every) / factor->second);
  }
  for (EventRate& event : asked.events) {
    lower(event.hertz);
    event.period = static_cast<uint64_t>(static_cast<double>(event.period) / factor->second);
  }
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
