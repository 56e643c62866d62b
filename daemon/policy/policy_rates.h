// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/policy/event_slots.h"
#include "daemon/policy/selection.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// A capture of a policy in mode Trigger that is under way: its containers are sampled at its rate.
struct ActiveCapture {
  std::string policy;  // DisplayName
  CaptureSubject subject;
};

// The factor for the rate of each policy, by DisplayName. A policy without an entry gets its full
// rate; a policy with 0 counts as suspended.
using RateFactors = std::map<std::string, double>;

// Returns the rate that a policy asks for, in Hertz, before any ceiling; 0 if it asks for no CPU
// time. `captured`: a capture of it is under way.
int64_t AskedHertz(const k8s::PolicySpec& spec, bool captured);

// The rates of policies, given the captures that are under way and the lowered policies.
class PolicyRates {
 public:
  // `ceiling_hz` caps every rate.
  PolicyRates(uint32_t ceiling_hz, EventNames events, std::vector<ActiveCapture> captures,
              RateFactors factors)
      : ceiling_hz_(ceiling_hz),
        events_(std::move(events)),
        captures_(std::move(captures)),
        factors_(std::move(factors)) {}

  // The rate of one policy; all empty: it samples nothing now.
  struct Rate {
    uint32_t hertz = 0;                  // of CPU time; 0: none
    std::optional<int64_t> min_wait_ns;  // the shortest wait told; unset: no waits
    std::optional<int64_t> min_lock_ns;  // the same of waits for locks
    // One allocated byte in so many is a sample; unset: no allocations.
    std::optional<int64_t> sample_bytes;
    bool in_use = false;  // with sample_bytes: each of these is followed until it is freed
    std::array<EventRate, FT_MAX_EVENTS> events{};
    bool captured = false;  // a capture of the policy holds the container

    bool Samples(Type type) const;
    bool SamplesAny() const;
  };
  const EventNames& events() const { return events_; }
  Rate For(const k8s::ProfilingPolicy& policy, const Container& container) const;
  // Returns the highest rate that For returns for any container.
  Rate Highest(const k8s::ProfilingPolicy& policy) const;
  // Returns the highest rate if no policy were lowered.
  Rate HighestAsked(const k8s::ProfilingPolicy& policy) const;

 private:
  Rate Asked(const k8s::ProfilingPolicy& policy, bool captured) const;
  Rate Given(const k8s::ProfilingPolicy& policy, Rate asked) const;

  uint32_t ceiling_hz_;
  EventNames events_;
  std::vector<ActiveCapture> captures_;
  RateFactors factors_;
};

}  // namespace firetower::daemon
