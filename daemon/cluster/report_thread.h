// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "daemon/cluster/node_reporter.h"

namespace firetower::daemon {

// Runs a NodeReporter on its own thread, `report`. Created, used and ended by the control thread.
class ReportThread {
 public:
  ReportThread(std::unique_ptr<k8s::ApiClient> client, std::string node_name,
               MetricsRegistry& registry, const Clock& clock)
      : client_(std::move(client)), reporter_(*client_, std::move(node_name), registry, clock) {}

  void Start();
  // Cancels the current request and ends the thread.
  void Stop();

  // The functions below are those of NodeReporter.
  void Report(k8s::NodeReport report) {
    reporter_.Report(std::move(report));
    thread_.Notify();
  }
  void PostFiring(const k8s::ProfilingPolicy& policy, const k8s::Pod* pod, std::string text) {
    reporter_.PostFiring(policy, pod, std::move(text));
    thread_.Notify();
  }
  // Returns the existing checks of reports and Events. Any thread.
  std::vector<Check> GetChecks() const;

 private:
  std::unique_ptr<k8s::ApiClient> client_;
  NodeReporter reporter_;
  NamedThread thread_;  // last: it uses the others
};

}  // namespace firetower::daemon
