// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/host_checks.h"
#include "daemon/health/modules_check.h"
#include "daemon/health/runtimes_check.h"
#include "daemon/health/store_check.h"

namespace firetower::daemon {

// Facts that `doctor` gets from the daemon. It reads the others from the host each time.
struct DoctorInput {
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  int64_t sideband_ring_bytes = 0;
  std::function<CgroupFacts()> cgroup = {};          // unset: not checked
  std::function<StoreFacts()> store = {};            // unset: not checked
  std::function<std::vector<Check>()> cluster = {};  // unset: there is none
  // Unset: not checked. Nothing: no window has ended yet.
  std::function<std::optional<NameFacts>()> names = {};
  std::function<std::optional<RuntimeFacts>()> runtimes = {};
  // Unset: no policies are used, and everything is profiled. Nothing: not all policies are known
  // yet.
  std::function<std::optional<PolicyFacts>()> policies = {};
};

// Runs all checks, in the order of display. Reads a dozen small files. May run on any thread, so
// the callbacks must be safe to call there.
std::vector<Check> RunDoctor(const DoctorInput& input);

// Returns one line for each failed check: "check NAME: problem; remedy".
std::vector<std::string> LinesOfFailed(const std::vector<Check>& checks);

}  // namespace firetower::daemon
