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

// Handles policies in mode Trigger on the control thread: once a second it evaluates them, orders a
// capture of each that fires, and keeps the list of captures under way, whose containers are
// sampled at the capture's rate meanwhile. It also knows which policies record the whole node.
class TriggerController {
 public:
  static constexpr int64_t kEveryNs = kNsPerSecond;

  struct Parts {
    MetricSource& source;
    MetricsRegistry& registry;
    std::string node;
    std::function<void(CaptureOrder)> order;
    // Publishes a firing as a Kubernetes Event.
    std::function<void(const Firing&, const std::string& text)> tell;
    CaptureHistory* history = nullptr;  // nullptr: captures are forgotten with the process
  };

  // All references must outlive this.
  explicit TriggerController(Parts parts);

  // Takes over captures from before this process. Must be called before the first Arm.
  void Remember(int64_t monotonic_ns, int64_t wall_ns);

  // Sets the policies in force with their targets; cheap if nothing changed. Returns true if the
  // set of policies that record the whole node changed, so that containers need another rate.
  bool Arm(const std::vector<PolicySchedule::Armed>& armed, const k8s::PodIndex* pods);
  bool armed() const { return armed_ > 0; }
  void NoteOomKills(std::span<const OomKill> kills);
  // Returns true if captures began or ended, so that containers need another rate.
  bool Evaluate(int64_t monotonic_ns, int64_t wall_ns);

  // The findings about policies of the API server that fired, or cannot fire here.
  const PolicyFindings& findings() const { return findings_; }
  TriggerMoment moment() const;

 private:
  using NameSet = decltype(TriggerMoment::node_wide);
  struct Running {
    ActiveCapture capture;
    int64_t until_ns = 0;  // monotonic: somebody may set the wall clock meanwhile
  };
  // Returns true if the set has changed.
  bool SetNodeWide(const std::vector<ArmedPolicy>& policies);
  void Fire(const Firing& firing);
  void TellMetrics();
  // Reports rules that can never hold here, in the policies' findings.
  void FindUnserved();

  Parts parts_;
  Triggers triggers_;
  size_t armed_ = 0;
  std::vector<Running> captures_;  // Triggers bounds them: one of a subject at a time
  NameSet node_wide_;              // as TriggerMoment has it
  PolicyFindings findings_;
  std::vector<std::string> warned_;  // about rules that can never hold here
};

}  // namespace firetower::daemon
