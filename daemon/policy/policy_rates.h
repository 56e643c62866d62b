// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

// Returns the rate that a policy asks for, in Hertz, before any ceiling. `captured`: a capture of
// it is under way.
int64_t AskedHertz(const k8s::PolicySpec& spec, bool captured);

// The CPU sampling rates of policies, given the captures that are under way and the lowered
// policies. Rates are in Hertz; 0 means that the policy samples nothing now.
class PolicyRates {
 public:
  // `ceiling_hz` caps every rate.
  PolicyRates(uint32_t ceiling_hz, std::vector<ActiveCapture> captures, RateFactors factors)
      : ceiling_hz_(ceiling_hz), captures_(std::move(captures)), factors_(std::move(factors)) {}

  struct Rate {
    uint32_t hertz = 0;
    bool captured = false;  // a capture of the policy holds the container
  };
  Rate For(const k8s::ProfilingPolicy& policy, const Container& container) const;
  // Returns the highest rate that For returns for any container.
  uint32_t Highest(const k8s::ProfilingPolicy& policy) const;
  // Returns the highest rate if no policy were lowered.
  uint32_t HighestAsked(const k8s::ProfilingPolicy& policy) const;

 private:
  uint32_t Asked(const k8s::ProfilingPolicy& policy, bool captured) const;
  uint32_t Given(const k8s::ProfilingPolicy& policy, uint32_t asked_hz) const;

  uint32_t ceiling_hz_;
  std::vector<ActiveCapture> captures_;
  RateFactors factors_;
};

}  // namespace firetower::daemon
