// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/control/policies/capture_history.h"
#include "daemon/export/captures.h"
#include "daemon/metrics/metrics_registry.h"
#include "daemon/pipeline/pipeline.h"
#include "daemon/policy/policy_report.h"
#include "daemon/policy/policy_selection.h"
#include "daemon/trigger/triggers.h"

namespace firetower::daemon {

// What the control thread does about policies in mode Trigger: once a second it asks whether they
// fire, orders a capture of what did, and keeps the list of captures under way, whose containers
// are sampled at their rate meanwhile. It also says which policies have the whole node recorded.
class TriggerDesk {
 public:
  static constexpr int64_t kEveryNs = kNsPerSecond;

  struct Parts {
    MetricSource& source;
    MetricsRegistry& registry;
    std::string node;
    std::function<void(CaptureOrder)> order;
    // For people elsewhere: Kubernetes Events.
    std::function<void(const Firing&, const std::string& text)> tell;
    CaptureHistory* history = nullptr;  // nullptr: nothing outlives the process
  };

  // What is referred to outlives it.
  explicit TriggerDesk(Parts parts);

  // What was captured before this process counts, too. Before the first Arm.
  void Remember(int64_t monotonic_ns, int64_t wall_ns);

  // The policies in force with their targets; cheap where nothing changed. True if other policies
  // than before have the whole node recorded: containers are to be sampled at another rate.
  bool Arm(const std::vector<PolicySchedule::Armed>& armed, const k8s::PodIndex* pods);
  bool armed() const { return armed_ > 0; }
  void NoteOomKills(std::span<const OomKill> kills);
  // True if captures began or ended: containers are to be sampled at another rate.
  bool Evaluate(int64_t monotonic_ns, int64_t wall_ns);

  // Of policies of the API server that fired, or cannot here.
  const PolicyFindings& findings() const { return findings_; }
  TriggerMoment moment() const;

 private:
  using NameSet = decltype(TriggerMoment::node_wide);
  struct Running {
    ActiveCapture capture;
    int64_t until_ns = 0;  // monotonic: somebody may set the wall clock meanwhile
  };
  // True if these are others than before.
  bool SetNodeWide(const std::vector<ArmedPolicy>& policies);
  void Fire(const Firing& firing);
  void TellMetrics();
  // Rules that cannot hold here: a policy with such ones says so.
  void FindUnserved();

  Parts parts_;
  Triggers triggers_;
  size_t armed_ = 0;
  std::vector<Running> captures_;  // Triggers bounds them: one of a subject at a time
  NameSet node_wide_;              // as TriggerMoment has it
  PolicyFindings findings_;
  std::vector<std::string> warned_;  // of rules that cannot hold here
};

}  // namespace firetower::daemon
