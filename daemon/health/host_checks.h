// SPDX-License-Identifier: Apache-2.0
// Checks of the host for `doctor`. Each is a function of its arguments: a /proc or /sys under any
// root, or facts that the daemon has at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/capabilities.h"
#include "daemon/health/check.h"
#include "daemon/health/kernel_version.h"

namespace firetower::daemon {

// "btf": /sys/kernel/btf/vmlinux is there and is BTF.
Check BtfCheck(const std::string& sys_root);
// "lockdown": the mode "confidentiality" forbids BPF to read kernel memory.
Check LockdownCheck(const std::string& sys_root);
// "kallsyms": kernel addresses are shown; where not, kptr_restrict or the capability is named.
Check KallsymsCheck(const std::string& proc_root, const Privileges& privileges);
// "pid-namespace": the daemon is in the node's own, whose numbers samples and records carry. In one
// of its container it finds no other container's processes.
Check PidNamespaceCheck(const std::string& proc_root);
// "perf-paranoid": what perf_event_paranoid refuses without CAP_PERFMON.
Check PerfParanoidCheck(const std::string& proc_root, const Privileges& privileges);
// "perf-mlock": one sideband ring and its control page fit the memory that perf lets a user lock on
// a CPU.
Check PerfMlockCheck(const std::string& proc_root, const Privileges& privileges,
                     int64_t sideband_ring_bytes);
// "memlock": below 5.11 BPF maps count against RLIMIT_MEMLOCK, from then on against the memory
// cgroup.
Check MemlockCheck(const std::optional<KernelVersion>& kernel, const Privileges& privileges,
                   uint64_t limit_bytes);

// Hierarchy that was chosen at start; `error` when none could be.
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
// A node whose every policy is refused, or that has none, profiles nothing and looks healthy.
Check PolicyCheck(const PolicyFacts& facts);

}  // namespace firetower::daemon
