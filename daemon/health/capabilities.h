// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// The capabilities that firetowerd uses, by their numbers in <linux/capability.h>.
enum class Capability : int {
  kDacReadSearch = 2,
  kSysPtrace = 19,
  kSyslog = 34,
  kPerfmon = 38,
  kBpf = 39,
  kCheckpointRestore = 40,
};

struct CapabilityUse {
  Capability capability;
  std::string_view name;          // "CAP_BPF"
  std::string_view lost_without;  // what does not work without it
  bool required;                  // nothing is sampled without it
};

// Returns all six, the required ones first.
std::span<const CapabilityUse> CapabilityUses();

// The privileges of this process, from /proc/self/status.
struct Privileges {
  uint64_t effective = 0;       // CapEff, one bit a capability
  bool seccomp_filter = false;  // Seccomp: 2

  // Tells whether the process has a capability. SYS_ADMIN includes BPF, PERFMON and
  // CHECKPOINT_RESTORE, which were split from it.
  bool Has(Capability capability) const;
  bool HasBit(int number) const { return (effective >> number & 1) != 0; }
};

// Parses the status text. kCorrupt: it has no CapEff line.
Result<Privileges> ParsePrivileges(std::string_view proc_status);
Result<Privileges> ReadPrivileges(const std::string& proc_root);

// Returns one check for each capability, and one for seccomp.
std::vector<Check> CapabilityChecks(const Privileges& privileges);

// The kind of call that was refused. It determines the relevant capabilities.
enum class PrivilegedCall { kBpf, kPerfEventOpen, kReadProcess, kKernelSymbols, kMapFiles };

// Returns `error` and, if the call was refused (kPermission), also the reason: a missing
// capability, else the seccomp filter, else other limits that give EPERM.
Error CapabilityError(Error error, PrivilegedCall call, const Privileges& privileges);
// Does the same with the privileges of the calling process.
Error CapabilityError(Error error, PrivilegedCall call);

}  // namespace firetower::daemon
