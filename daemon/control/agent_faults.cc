// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/agent_faults.h"

#include <fmt/core.h>

#include "daemon/health/capabilities.h"
#include "daemon/health/host_checks.h"

namespace firetower::daemon {
namespace {

std::string WhatIsMissing(const Privileges& privileges, Capability capability) {
  if (privileges.Has(capability)) return "";
  for (const CapabilityUse& use : CapabilityUses()) {
    if (use.capability == capability)
      return fmt::format("{} is missing: {}", use.name, use.lost_without);
  }
  return "";
}

}  // namespace

AgentFaults ReadCapabilityFaults(const std::string& proc_root) {
  AgentFaults faults;
  const Result<Privileges> privileges = ReadPrivileges(proc_root);
  if (!privileges) return faults;
  faults.user_names = WhatIsMissing(*privileges, Capability::kSysPtrace);
  // Some kernels show their addresses to everyone.
  if (KallsymsCheck(proc_root, *privileges).status != CheckStatus::kOk)
    faults.kernel_names = WhatIsMissing(*privileges, Capability::kSyslog);
  const Check pid_namespace = PidNamespaceCheck(proc_root);
  if (pid_namespace.status != CheckStatus::kOk) faults.processes = pid_namespace.message;
  return faults;
}

}  // namespace firetower::daemon
