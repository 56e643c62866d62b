// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/snapshot.h"
#include "daemon/config/config.h"
#include "daemon/control/cluster_side.h"
#include "daemon/control/metrics_feed.h"
#include "daemon/control/policies/budget_controller.h"
#include "daemon/control/policies/capture_history.h"
#include "daemon/control/policies/policy_log.h"
#include "daemon/control/policies/trigger_controller.h"
#include "daemon/control/types/allocation_side.h"
#include "daemon/control/types/event_side.h"
#include "daemon/control/types/wait_side.h"
#include "daemon/health/host_checks.h"
#include "daemon/pipeline/pipeline.h"
#include "daemon/policy/event_slots.h"
#include "daemon/policy/policy_set.h"
#include "daemon/policy/policy_store.h"
#include "query/sources.h"

namespace firetower::daemon {

// Decides what is sampled: merges the policies of files and of the API server, and selects again
// when they, the pods, the time, a trigger or the budget change. Belongs to the control thread.
class PolicyController {
 public:
  // All references must outlive this.
  struct Parts {
    const Config& config;
    const Clock& clock;
    MetricsRegistry& registry;
    const MetricsFeed& feed;
    ClusterSide& cluster;  // after Join
    MetricSource& readings;
    Exporter& exporter;
    Pipeline& pipeline;
    WaitSide& waits;
    EventSide& events;
    AllocationSide& allocations;
  };
  using PollSet = std::array<pollfd, 3>;

  // `files`: policies of this machine; unset: there are none.
  PolicyController(const Parts& parts, std::optional<PolicyStore> files);

  // Selects the containers of the policies that are known now, or all containers if policies are
  // not used.
  void TakePolicies();
  // The descriptors to poll for at most WaitNs(); then call Step.
  PollSet GetPollSet() const;
  int64_t WaitNs() const;
  void Step(const PollSet& polled);
  // Checks the budget, and reports. Call it every few seconds.
  void Refresh();

  // The rate of the perf events.
  uint32_t frequency_hz() const { return frequency_hz_; }
  // Decides on a container that was sampled while the decision was open, from all that is known
  // now. Any thread, after TakePolicies.
  Decision Settled(const Container& container) const;
  // Returns nullopt while not all policies are known. Any thread.
  std::optional<PolicyFacts> Facts() const;
  // Returns the policies that are known here. Any thread.
  std::vector<query::PolicyState> States() const;

 private:
  bool KnowsAllPolicies() const;
  void ShowPolicies(const PolicySet& set);
  // Gives the events of all policies their types.
  const EventNames& TypesOf(const PolicySet& set);
  void ApplySchedule();
  void Report();
  TypeFaults FaultsOfTypes() const;
  // Runs once a second. Returns true if containers must be sampled at another rate now.
  bool CheckTriggers();
  bool Arm();
  // Returns true if policies get other rates now.
  bool CheckBudget();

  const Parts parts_;
  std::optional<PolicyStore> files_;
  PolicyObjects* const objects_;  // nullptr: policies are not read from the API server
  uint32_t frequency_hz_;
  BudgetController budget_;
  CaptureHistory history_;
  TriggerController triggers_;
  EventSlots slots_;
  std::set<std::string> crowded_events_;  // those that found no type
  int64_t policies_taken_ns_ = 0;         // monotonic
  std::shared_ptr<const PolicySchedule> schedule_;
  SnapshotCell<PolicySchedule> published_schedule_;  // the same, for other threads
  SnapshotCell<std::vector<query::PolicyState>> states_;
  std::atomic<size_t> refused_policies_{0};
  PolicyLog policy_log_;
  std::shared_ptr<const Pipeline::Containers> armed_containers_;  // as they were armed last
  std::optional<int64_t> schedule_change_ns_;                     // Unix time
  std::optional<int64_t> view_due_ns_;                            // monotonic
  int64_t next_triggers_ns_ = 0;                                  // monotonic
};

}  // namespace firetower::daemon
