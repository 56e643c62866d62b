// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread.h"
#include "daemon/cluster/cluster.h"
#include "daemon/cluster/report_thread.h"
#include "daemon/control/kernel_side.h"
#include "daemon/export/container_names.h"
#include "daemon/policy/cluster_view.h"
#include "daemon/policy/policy_objects.h"
#include "daemon/policy/policy_report.h"
#include "daemon/trigger/firing.h"
#include "k8s/client/config.h"
#include "k8s/pods/pod_tracker.h"

namespace firetower::daemon {

// The daemon's connection to the API server: the watches of pods, labels and policies, and the
// reports on this node's policies. Without an API server all calls do nothing.
//
// Owned by the control thread; the watches and the reports have threads of their own.
class ClusterSide {
 public:
  // All references must outlive this. `access`: how to reach the API server; unset: there is none.
  ClusterSide(const Config& config, std::optional<k8s::ClientConfig> access,
              const KernelSide& kernel, MetricsRegistry& registry, const Clock& clock);

  // Starts the watches of all kinds of objects that are needed.
  void Join();
  void Stop();

  bool joined() const { return cluster_ != nullptr; }
  // Policies of the API server; nullptr: policies are not read from it.
  PolicyObjects* policies() { return policies_.get(); }
  // Readable when View() may have changed; -1 if no policy uses data of the API server.
  int view_fd() const { return labels_ ? view_changed_.fd() : -1; }
  void ClearViewChanged() { view_changed_.Clear(); }
  // Returns the objects that policies are matched against; any thread.
  std::optional<ClusterView> View() const;
  // Returns nullptr if there is no API server.
  PodSource Pods() const;
  // Asks about the rights of callers; nullptr where the daemon is no agent of a cluster.
  std::unique_ptr<k8s::ApiClient> ReviewClient() const;
  // Names the file of the daemon's own token; empty: it has none, or not in a file.
  std::string token_file() const { return access_ ? access_->token_file : ""; }
  // Says what was never read and may still come. Any thread.
  std::vector<std::string> Awaited() const;
  // Returns the checks of `doctor` about the API server. Any thread.
  std::vector<Check> Checks() const;

  void UpdateMetrics();
  // Posts an Event about a policy of the API server that fired.
  void PostFiring(const Firing& firing, const std::string& text);
  // Writes this node's ProfilingNode. Does nothing until all objects are known: missing ones would
  // be reported as absent from this node.
  void Report(const PolicyFindings& findings, bool store_fails, const TypeFaults& types);

 private:
  void StartReports();

  const Config& config_;
  const std::optional<k8s::ClientConfig> access_;
  const KernelSide& kernel_;
  MetricsRegistry& registry_;
  const Clock& clock_;
  WakeFd view_changed_;
  k8s::PodTracker pods_{clock_, [this] { view_changed_.Notify(); }};
  std::unique_ptr<ClusterLabels> labels_;  // unset: no policy uses data of the API server
  std::unique_ptr<PolicyObjects> policies_;
  std::unique_ptr<Cluster> cluster_;      // unset: no API server is known
  std::unique_ptr<ReportThread> report_;  // unset: policies are not read from the API server
  int64_t started_ns_ = 0;                // Unix time
  AgentFaults faults_;
};

}  // namespace firetower::daemon
