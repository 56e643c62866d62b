// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/config/config.h"
#include "k8s/client/config.h"

namespace firetower::daemon {

// The whole daemon, put together: kernel side, threads, store, HTTP. Start order is that of the
// data, last stage first; Stop goes the other way, so that what was sampled gets through.
class Agent {
 public:
  // `access`: how the API server is reached; without one there is no cluster. Errors are for the
  // person who started it: what failed, why, and what to do. `machine_refused`: it was the kernel
  // or the machine that did not let it, not what was configured.
  static Result<std::unique_ptr<Agent>> Start(const Config& config,
                                              std::optional<k8s::ClientConfig> access,
                                              const Clock& clock, bool& machine_refused);
  virtual ~Agent() = default;

  // The control thread's work, until a descriptor of `stop_fd` is readable (a signalfd): policies,
  // metrics, schedules.
  virtual void Run(int stop_fd) = 0;
  // Stops sampling, writes the open window, ends every thread.
  virtual void Stop() = 0;
  // Where HTTP is served, "http://127.0.0.1:7070".
  virtual std::string url() const = 0;
};

}  // namespace firetower::daemon
