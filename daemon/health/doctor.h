// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/host_checks.h"
#include "daemon/health/modules_check.h"
#include "daemon/health/store_check.h"

namespace firetower::daemon {

// Facts that `doctor` gets from the daemon; it reads the rest from the host each time.
struct DoctorInput {
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  int64_t sideband_ring_bytes = 0;
  std::function<CgroupFacts()> cgroup = {};          // unset: not checked
  std::function<StoreFacts()> store = {};            // unset: not checked
  std::function<std::vector<Check>()> cluster = {};  // unset: there is none
  // Unset: not checked. Nothing: no window has ended yet.
  std::function<std::optional<NameFacts>()> names = {};
  // Unset: everything is profiled without a policy. Nothing: not all are known yet.
  std::function<std::optional<PolicyFacts>()> policies = {};
};

// All checks, in the order they are shown. Any thread; reads a dozen small files. The callbacks
// must be safe to call from that thread.
std::vector<Check> RunDoctor(const DoctorInput& input);

// Returns one line for each failed check: "check NAME: what; what mends it".
std::vector<std::string> LinesOfFailed(const std::vector<Check>& checks);

}  // namespace firetower::daemon
