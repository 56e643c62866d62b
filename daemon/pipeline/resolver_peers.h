// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "bpf/abi/config.h"
#include "daemon/policy/selection.h"
#include "daemon/process/module.h"
#include "daemon/process/process_table.h"

namespace firetower::daemon {

// The decisions on a container, by type.
using Decisions = std::array<Decision, FT_TYPE_COUNT>;

// Requests of the resolver to other parts. Each call returns at once.
class ResolverPeers {
 public:
  virtual ~ResolverPeers() = default;
  // Requests the symbols of `module`, which `process` maps as `mapping`.
  virtual void WantSymbols(const std::shared_ptr<const Module>& module, const Process& process,
                           const ProcessMapping& mapping) = 0;
  // Sets the kernel side's verdicts on a cgroup. A container passes its decisions to its children;
  // below any other cgroup new cgroups stay undecided. `told`: a record reported the birth, so the
  // cgroup may already be gone; then verdicts that the kernel side has removed are not set again.
  virtual void SetGate(uint64_t cgroup_id, const Decisions& decisions, bool is_container,
                       bool told) = 0;
  // Reports that a task of that container was killed for memory.
  virtual void OnOomKill(const std::shared_ptr<const Container>& container, int64_t time_ns) = 0;
  // Removes the verdicts on a cgroup that is gone.
  virtual void RemoveGate(uint64_t cgroup_id) = 0;
  virtual void SetTask(const ft_task& verdict) = 0;
  virtual void ForgetTask(uint32_t tid) = 0;
  // Makes all verdicts on tasks with earlier versions invalid.
  virtual void SetTasksVersion(uint32_t version) = 0;
  // Returns the number of births and deaths that the kernel side could not report so far.
  virtual uint64_t UnreportedCgroups() = 0;
};

}  // namespace firetower::daemon
