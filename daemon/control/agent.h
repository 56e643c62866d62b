// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/config/config.h"
#include "daemon/control/agent_options.h"
#include "daemon/control/cluster_side.h"
#include "daemon/control/http_side.h"
#include "daemon/control/kernel_side.h"
#include "daemon/control/metrics_feed.h"
#include "daemon/control/module_readers.h"
#include "daemon/control/policies/policy_controller.h"
#include "daemon/control/types/event_side.h"
#include "daemon/control/types/wait_side.h"
#include "daemon/push/push_side.h"
#include "daemon/trigger/readings/kernel_metrics.h"

namespace firetower::daemon {

// The whole daemon: kernel side, threads, store, HTTP. It starts them in the reverse order of the
// data, so the last stage first, and stops them in the order of the data, so that no sample is
// lost.
class Agent {
 public:
  // `access`: how to reach the API server; unset: no cluster. Errors are for the person who started
  // the daemon: what failed, why, and what to do. `machine_refused` is set if the kernel or the
  // machine is the reason, not the configuration.
  static Result<std::unique_ptr<Agent>> Start(const Config& config,
                                              std::optional<k8s::ClientConfig> access,
                                              const Clock& clock, bool& machine_refused);
  ~Agent() { Stop(); }

  // Does the control thread's work (policies, metrics, schedules) until a descriptor of `stop_fd`
  // (a signalfd) is readable.
  void Run(int stop_fd);
  // Stops sampling, writes the open window, ends every thread.
  void Stop();

 private:
  Agent(const Config& config, const Clock& clock) : config_(config), clock_(clock) {}

  Status Start(std::optional<k8s::ClientConfig> access, bool& machine_refused);
  void MakeStages();
  DoctorInput Doctor();
  Status StartStages();

  const Config config_;
  const Clock& clock_;
  ModuleReaders readers_{config_, clock_};
  MetricsRegistry registry_;
  KernelSide kernel_;
  std::unique_ptr<WaitSide> waits_;
  std::unique_ptr<EventSide> events_;
  std::unique_ptr<AllocationSide> allocations_;
  ModuleRegistry modules_{ForgetModulesAfterNs(config_)};
  std::unique_ptr<CgroupTree> cgroups_;
  std::unique_ptr<ProcessTable> processes_;
  std::unique_ptr<MetricsFeed> feed_;
  std::unique_ptr<StoreSide> store_;
  std::unique_ptr<PushSide> push_;
  std::unique_ptr<ClusterSide> cluster_;
  std::unique_ptr<Exporter> exporter_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<KernelMetrics> kernel_metrics_;
  std::unique_ptr<PolicyController> policies_;
  std::unique_ptr<HttpSide> http_;
  bool stopped_ = false;
};

}  // namespace firetower::daemon
