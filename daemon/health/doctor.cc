// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/doctor.h"

#include <sys/resource.h>

#include <iterator>
#include <utility>

namespace firetower::daemon {
namespace {

void Append(std::vector<Check>& checks, std::vector<Check> more) {
  std::move(more.begin(), more.end(), std::back_inserter(checks));
}

uint64_t MemlockLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

std::vector<Check> RunDoctor(const DoctorInput& input) {
  KernelIdentity kernel = ReadKernelIdentity(input.proc_root);
  std::vector<Check> checks = KernelChecks(kernel);
  checks.push_back(BtfCheck(input.sys_root));
  checks.push_back(LockdownCheck(input.sys_root));
  auto read = ReadPrivileges(input.proc_root);
  Privileges privileges = read.value_or(Privileges());
  if (read) {
    Append(checks, CapabilityChecks(privileges));
  } else {
    checks.push_back({"capabilities", CheckStatus::kFail, read.error().message(),
                      "mount the host's proc and name it with --proc-root"});
  }
  checks.push_back(PidNamespaceCheck(input.proc_root));
  checks.push_back(PerfParanoidCheck(input.proc_root, privileges));
  checks.push_back(PerfMlockCheck(input.proc_root, privileges, input.sideband_ring_bytes));
  checks.push_back(MemlockCheck(UpstreamVersion(kernel), privileges, MemlockLimit()));
  checks.push_back(KallsymsCheck(input.proc_root, privileges));
  if (input.cgroup) checks.push_back(CgroupCheck(input.cgroup()));
  if (input.names) checks.push_back(ModulesCheck(input.names()));
  if (input.runtimes) checks.push_back(RuntimesCheck(input.runtimes()));
  checks.push_back(ClockCheck(ReadClockFacts()));
  if (input.store) checks.push_back(StoreCheck(input.store()));
  if (std::optional<PolicyFacts> facts = input.policies ? input.policies() : std::nullopt)
    checks.push_back(PolicyCheck(*facts));
  if (input.cluster) Append(checks, input.cluster());
  return checks;
}

std::vector<std::string> LinesOfFailed(const std::vector<Check>& checks) {
  std::vector<std::string> lines;
  for (const Check& check : checks) {
    if (check.status != CheckStatus::kFail) continue;
    lines.push_back("check " + check.name + ": " + check.message +
                    (check.fix.empty() ? "" : "; " + check.fix));
  }
  return lines;
}

}  // namespace firetower::daemon
