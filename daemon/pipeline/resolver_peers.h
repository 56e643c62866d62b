// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "bpf/abi/config.h"
#include "daemon/policy/selection.h"
#include "daemon/process/module.h"
#include "daemon/process/process_table.h"

namespace firetower::daemon {

// Requests of the resolver to other parts; each call returns at once.
class ResolverPeers {
 public:
  virtual ~ResolverPeers() = default;
  // Read the symbols of `module`, which `process` maps as `mapping`.
  virtual void WantSymbols(const std::shared_ptr<const Module>& module, const Process& process,
                           const ProcessMapping& mapping) = 0;
  // The kernel side shall gate this cgroup so. Containers pass their decision to their children;
  // below anything else new cgroups stay undecided. `told`: of its birth, by a record; it may have
  // gone since, and what the kernel side no longer gates stays so.
  virtual void SetGate(uint64_t cgroup_id, const Decision& decision, bool is_container,
                       bool told) = 0;
  // A task of that container was killed for memory.
  virtual void OnOomKill(const std::shared_ptr<const Container>& container, int64_t time_ns) = 0;
  // The cgroup is gone; the kernel side has no more to do with it.
  virtual void RemoveGate(uint64_t cgroup_id) = 0;
  virtual void SetTask(const ft_task& verdict) = 0;
  virtual void ForgetTask(uint32_t tid) = 0;
  // Verdicts on tasks of earlier versions shall not count any more.
  virtual void SetTasksVersion(uint32_t version) = 0;
  // Births and deaths that the kernel side could not tell, so far.
  virtual uint64_t UntoldCgroups() = 0;
};

}  // namespace firetower::daemon
