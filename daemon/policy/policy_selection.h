// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/policy/cluster_view.h"
#include "daemon/policy/loaded_policy.h"
#include "daemon/policy/policy_rates.h"
#include "daemon/policy/selection.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// Returns "shop/spikes", or only the name of a cluster policy, as in Decision::policies.
std::string ShortName(const k8s::ProfilingPolicy& policy);

// The state of the policies in mode Trigger at this moment.
struct TriggerMoment {
  std::vector<ActiveCapture> captures;  // those under way
  // By DisplayName those of capture.scope Node that have the whole node recorded: others of that
  // scope can fire on nothing here, and sample nothing.
  std::set<std::string, std::less<>> node_wide;
};

// Decides when and where policies are in force. With a view of the cluster, pods are matched by
// their objects, and everything outside pods is a host process. Without a view (no API server) no
// pod object is known: an empty selector takes every container, a selector with labels takes none,
// `containers` is compared with the container label, and hostProcesses is everything else.
class PolicySchedule {
 public:
  // `ceiling_hz` caps every rate. Events without a number in `events` are not sampled.
  PolicySchedule(std::vector<LoadedPolicy> policies, uint32_t ceiling_hz, EventNames events = {});

  // Returns the policies in force at a moment of the wall clock.
  std::shared_ptr<const Selection> At(int64_t wall_ns,
                                      std::optional<ClusterView> view = std::nullopt,
                                      TriggerMoment triggers = {}, RateFactors factors = {}) const;
  // A policy that is neither suspended nor over, with the highest rate that it asks for now: 0
  // between its periods, or if nothing can fire it. Other types than CPU time are in it as the rate
  // that costs about as much.
  struct Running {
    std::shared_ptr<const k8s::ProfilingPolicy> policy;
    uint32_t frequency_hz = 0;
  };
  // Returns the policies that run now. Dropped ones (by `factors`) ask for the rate that they would
  // get.
  std::vector<Running> RunningAt(int64_t wall_ns, const std::optional<ClusterView>& view,
                                 const TriggerMoment& triggers = {},
                                 const RateFactors& factors = {}) const;
  // A policy in mode Trigger that is in force, with those of `containers` that its rules apply to,
  // as far as known.
  struct Armed {
    std::shared_ptr<const k8s::ProfilingPolicy> policy;
    std::vector<std::shared_ptr<const Container>> targets;
  };
  std::vector<Armed> ArmedAt(int64_t wall_ns, const std::optional<ClusterView>& view,
                             std::span<const std::shared_ptr<const Container>> containers,
                             const RateFactors& factors = {}) const;
  // Returns a selection of all policies that may have been in force here recently. Decides about
  // containers that were sampled while a decision was open.
  std::shared_ptr<const Selection> AtAnyTime(const ClusterView& view, int64_t wall_ns) const;
  // Returns the next later moment at which At() changes; nullopt if never.
  std::optional<int64_t> NextChange(int64_t wall_ns) const;
  // Returns remarks for people: parts of policies that match nothing here or are not supported.
  std::vector<std::string> Warnings(bool in_cluster = false) const;

  size_t size() const { return policies_->size(); }

 private:
  template <typename Wanted>
  std::shared_ptr<const Selection> Select(Wanted wanted, std::optional<ClusterView> view,
                                          PolicyRates rates, bool settled) const;

  std::shared_ptr<const std::vector<LoadedPolicy>> policies_;
  uint32_t ceiling_hz_;
  EventNames events_;
};

}  // namespace firetower::daemon
