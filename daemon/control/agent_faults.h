// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "daemon/policy/policy_report.h"

namespace firetower::daemon {

// Which names this process can never have for want of a capability or of the node's PID namespace;
// reads three small files. The capabilities that cost single binaries' names are left to `doctor`,
// and without those that cost everything nothing runs that could tell of it. What cannot be read is
// no fault.
AgentFaults ReadCapabilityFaults(const std::string& proc_root);

}  // namespace firetower::daemon
