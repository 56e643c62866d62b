// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/container/spsc_queue.h"
#include "base/snapshot.h"
#include "daemon/health/check.h"
#include "daemon/metrics/metrics_registry.h"
#include "k8s/client/api_client.h"
#include "k8s/pods/pod.h"
#include "k8s/policy/policy.h"
#include "k8s/status/event.h"
#include "k8s/status/node_report.h"
#include "k8s/status/status_writer.h"
#include "k8s/watch/backoff.h"

namespace firetower::daemon {

// Writes this node's ProfilingNode, and Events about fired triggers. Writes only on change, after a
// random delay that grows with the cluster, so that 5,000 agents together write 50 times a second
// after a policy changed. Only this class waits for the API server, and a failure costs only this
// report.
//
// Belongs to the `report` thread. Exceptions: Report and PostFiring (control thread), which never
// block, and the checks (any thread).
class NodeReporter {
 public:
  // The most Events that wait to be sent. Further ones are dropped and counted.
  static constexpr size_t kMaxEvents = 100;
  // Changes of pure numbers (pods, captures) are not written more often than this.
  static constexpr int64_t kCountsNs = 60 * kNsPerSecond;

  // All references must outlive this.
  NodeReporter(k8s::ApiServer& server, std::string node_name, MetricsRegistry& registry,
               const Clock& clock);

  // Sets the report to write from now on.
  void Report(k8s::NodeReport report);
  // Posts an Event: a trigger of `policy` fired. `pod` is the pod in which it fired, or null.
  void PostFiring(const k8s::ProfilingPolicy& policy, const k8s::Pod* pod, std::string text);

  // Does all that is due. Returns the time until there may be more to do.
  int64_t StepNs();

  // Returns the check for `doctor`; nothing before the first report.
  std::optional<Check> GetCheck() const;
  // Returns the check for Events; nothing while none was refused.
  std::optional<Check> GetEventCheck() const;

 private:
  struct Outcome {
    bool written = false;
    int status = 0;
    std::string message;
  };
  void SendEvents();
  // Sets the time of the next write, if one is needed.
  void Plan(const std::shared_ptr<const k8s::NodeReport>& report);
  void Write(const k8s::NodeReport& report);
  // Returns the delay before the next try after a failed write.
  int64_t UntilNextTryNs(const k8s::WriteOutcome& outcome);
  // Counts the cluster's nodes with one small request per hour.
  void CountNodes();

  k8s::ApiServer& server_;
  const std::string node_;
  MetricsRegistry& registry_;
  const Clock& clock_;
  k8s::Backoff random_;
  k8s::EventSeries series_;
  SnapshotCell<k8s::NodeReport> wanted_;
  SpscQueue<k8s::ObjectEvent> events_{kMaxEvents};
  uint64_t reported_dropped_ = 0;

  std::shared_ptr<const k8s::NodeReport> planned_;  // what due_ns_ is for
  std::optional<k8s::NodeReport> written_;
  int64_t written_ns_ = 0;
  std::optional<int64_t> due_ns_;
  int64_t not_before_ns_ = 0;  // after a failure
  int64_t nodes_ = 0;          // 0: not known
  std::optional<int64_t> count_nodes_ns_;
  SnapshotCell<Outcome> outcome_;
  SnapshotCell<Outcome> event_outcome_;  // of the last Event
};

}  // namespace firetower::daemon
