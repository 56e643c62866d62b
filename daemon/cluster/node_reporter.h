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

// Writes this node's ProfilingNode, and Events of what its triggers did. Only on change, and spread
// over a time that grows with the cluster, so that 5,000 agents write 50 times a second after an
// edit. What the API server does or refuses is waited for here and nowhere else, and costs this
// report alone.
//
// Belongs to the `report` thread, but for Report and PostFiring (the control thread), which never
// wait, and the checks (any thread).
class NodeReporter {
 public:
  // Events that wait to be sent; what finds no room is dropped and counted.
  static constexpr size_t kMaxEvents = 100;
  // Numbers that move by themselves (pods, captures) are not written more often.
  static constexpr int64_t kCountsNs = 60 * kNsPerSecond;

  // All references outlive this.
  NodeReporter(k8s::ApiServer& server, std::string node_name, MetricsRegistry& registry,
               const Clock& clock);

  // What is to be reported from now on.
  void Report(k8s::NodeReport report);
  // A trigger of `policy` fired. `pod`: where; may be null.
  void PostFiring(const k8s::ProfilingPolicy& policy, const k8s::Pod* pod, std::string text);

  // Whatever is due. How long until there may be more.
  int64_t StepNs();

  // What `doctor` says; nothing before there was anything to report.
  std::optional<Check> GetCheck() const;
  // The same of Events; nothing while none was refused.
  std::optional<Check> GetEventCheck() const;

 private:
  struct Outcome {
    bool written = false;
    int status = 0;
    std::string message;
  };
  void SendEvents();
  // Sets when the report is to be written, if it is.
  void Plan(const std::shared_ptr<const k8s::NodeReport>& report);
  void Write(const k8s::NodeReport& report);
  // After a write that failed.
  int64_t UntilNextTryNs(const k8s::WriteOutcome& outcome);
  // How many nodes the cluster has: one small request an hour.
  void CountNodes();

  k8s::ApiServer& server_;
  const std::string node_;
  MetricsRegistry& registry_;
  const Clock& clock_;
  k8s::Backoff random_;
  k8s::EventSeries series_;
  SnapshotCell<k8s::NodeReport> wanted_;
  SpscQueue<k8s::Happening> events_{kMaxEvents};
  uint64_t told_dropped_ = 0;

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
