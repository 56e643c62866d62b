// SPDX-License-Identifier: Apache-2.0
// Checks of the host for `doctor`. Each depends only on its arguments: a /proc or /sys under any
// root, or facts from the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/capabilities.h"
#include "daemon/health/check.h"
#include "daemon/health/kernel_version.h"

namespace firetower::daemon {

// Check "btf": /sys/kernel/btf/vmlinux exists and is BTF.
Check BtfCheck(const std::string& sys_root);
// Check "lockdown": the mode "confidentiality" forbids BPF to read kernel memory.
Check LockdownCheck(const std::string& sys_root);
// Check "kallsyms": kernel addresses are visible. If not, names kptr_restrict or the missing
// capability.
Check KallsymsCheck(const std::string& proc_root, const Privileges& privileges);
// Check "pid-namespace": the daemon is in the node's own PID namespace, whose numbers samples and
// records carry. In its container's namespace it would find no process of other containers.
Check PidNamespaceCheck(const std::string& proc_root);
// Check "perf-paranoid": perf_event_paranoid does not refuse the daemon without CAP_PERFMON.
Check PerfParanoidCheck(const std::string& proc_root, const Privileges& privileges);
// Check "perf-mlock": one sideband ring and its control page fit into the memory that perf lets a
// user lock per CPU.
Check PerfMlockCheck(const std::string& proc_root, const Privileges& privileges,
                     int64_t sideband_ring_bytes);
// Check "memlock": before Linux 5.11 BPF maps count against RLIMIT_MEMLOCK, later against the
// memory cgroup.
Check MemlockCheck(const std::optional<KernelVersion>& kernel, const Privileges& privileges,
                   uint64_t limit_bytes);

// The hierarchy that was chosen at start; `error` if none was found.
struct CgroupFacts {
  std::string mode;    // "v2", "hybrid" or "v1"
  std::string chosen;  // "v2" or "v1:memory"
  std::string error;
};
Check CgroupCheck(const CgroupFacts& facts);

struct ClockFacts {
  int64_t wall_ns = 0;
  std::optional<bool> synchronized;  // as adjtimex(2) tells; nothing where it may not be asked
};
ClockFacts ReadClockFacts();
Check ClockCheck(const ClockFacts& facts);

struct PolicyFacts {
  size_t accepted = 0;
  size_t refused = 0;
};
// Warns if a node's policies are all refused, or if it has none: it profiles nothing but looks
// healthy.
Check PolicyCheck(const PolicyFacts& facts);

}  // namespace firetower::daemon
