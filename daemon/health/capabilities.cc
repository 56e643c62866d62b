// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/capabilities.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "base/file.h"

namespace firetower::daemon {
namespace {

constexpr int kSysAdmin = 21;
constexpr size_t kMaxStatusBytes = 64 << 10;

constexpr CapabilityUse kUses[] = {
    {Capability::kBpf, "CAP_BPF", "BPF programs and maps cannot be loaded: nothing is sampled",
     true},
    {Capability::kPerfmon, "CAP_PERFMON",
     "perf events on all CPUs and tracing programs are refused: nothing is sampled", true},
    {Capability::kSysPtrace, "CAP_SYS_PTRACE",
     "mappings and files of other users' processes cannot be read: their frames have no names",
     false},
    {Capability::kSyslog, "CAP_SYSLOG", "kernel addresses are hidden: kernel frames have no names",
     false},
    {Capability::kDacReadSearch, "CAP_DAC_READ_SEARCH",
     "binaries that only their owner may read have no symbols", false},
    {Capability::kCheckpointRestore, "CAP_CHECKPOINT_RESTORE",
     "/proc/PID/map_files cannot be followed: deleted or replaced binaries have no symbols", false},
};

// "CapEff:\t000001ffffffffff" → the text after the colon, without blanks.
std::optional<std::string_view> FieldOf(std::string_view status, std::string_view key) {
  while (!status.empty()) {
    std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(status.size(), line.size() + 1));
    if (!line.starts_with(key) || line.substr(key.size(), 1) != ":") continue;
    line.remove_prefix(key.size() + 1);
    size_t start = line.find_first_not_of(" \t");
    return start == std::string_view::npos ? std::string_view() : line.substr(start);
  }
  return std::nullopt;
}

std::string HowToGrant(std::string_view capability) {
  return fmt::format(
      "start as root, grant {} (systemd: AmbientCapabilities=), or in a pod add it under "
      "securityContext.capabilities",
      capability);
}

// The capabilities a call needs, the likeliest first.
std::span<const Capability> NeededFor(PrivilegedCall call) {
  static constexpr Capability kForBpf[] = {Capability::kBpf, Capability::kPerfmon};
  static constexpr Capability kForPerf[] = {Capability::kPerfmon};
  static constexpr Capability kForProcess[] = {Capability::kSysPtrace, Capability::kDacReadSearch};
  static constexpr Capability kForSymbols[] = {Capability::kSyslog};
  static constexpr Capability kForMapFiles[] = {Capability::kCheckpointRestore,
                                                Capability::kSysPtrace};
  switch (call) {
    case PrivilegedCall::kBpf:
      return kForBpf;
    case PrivilegedCall::kPerfEventOpen:
      return kForPerf;
    case PrivilegedCall::kReadProcess:
      return kForProcess;
    case PrivilegedCall::kKernelSymbols:
      return kForSymbols;
    case PrivilegedCall::kMapFiles:
      return kForMapFiles;
  }
  return {};
}

const CapabilityUse& UseOf(Capability capability) {
  for (const CapabilityUse& use : kUses) {
    if (use.capability == capability) return use;
  }
  return kUses[0];
}

std::string_view OtherReason(PrivilegedCall call) {
  switch (call) {
    case PrivilegedCall::kBpf:
      return "check kernel lockdown (/sys/kernel/security/lockdown), and before Linux 5.11 "
             "RLIMIT_MEMLOCK";
    case PrivilegedCall::kPerfEventOpen:
      return "check kernel lockdown (/sys/kernel/security/lockdown), and for ring buffers "
             "kernel.perf_event_mlock_kb";
    default:
      return "a security module or a user namespace may refuse it";
  }
}

}  // namespace

std::span<const CapabilityUse> CapabilityUses() { return kUses; }

bool Privileges::Has(Capability capability) const {
  if (HasBit(static_cast<int>(capability))) return true;
  bool split_from_admin = capability == Capability::kBpf || capability == Capability::kPerfmon ||
                          capability == Capability::kCheckpointRestore;
  return split_from_admin && HasBit(kSysAdmin);
}

Result<Privileges> ParsePrivileges(std::string_view proc_status) {
  std::optional<std::string_view> mask = FieldOf(proc_status, "CapEff");
  Privileges privileges;
  if (mask) {
    auto [end, error] =
        std::from_chars(mask->data(), mask->data() + mask->size(), privileges.effective, 16);
    if (error != std::errc() || end != mask->data() + mask->size()) mask.reset();
  }
  if (!mask) return Error(ErrorCode::kCorrupt, "no CapEff line in the process status");
  privileges.seccomp_filter = FieldOf(proc_status, "Seccomp") == "2";
  return privileges;
}

Result<Privileges> ReadPrivileges(const std::string& proc_root) {
  std::string path = proc_root + "/self/status";
  ASSIGN_OR_RETURN(std::string status, ReadFile(path, kMaxStatusBytes));
  return ParsePrivileges(status).Context(path);
}

std::vector<Check> CapabilityChecks(const Privileges& privileges) {
  std::vector<Check> checks;
  for (const CapabilityUse& use : kUses) {
    Check check{std::string(use.name), CheckStatus::kOk, "held", ""};
    if (!privileges.Has(use.capability)) {
      check.status = use.required ? CheckStatus::kFail : CheckStatus::kWarn;
      check.message = fmt::format("missing: {}", use.lost_without);
      check.fix = HowToGrant(use.name);
    } else if (!privileges.HasBit(static_cast<int>(use.capability))) {
      check.message = "held through CAP_SYS_ADMIN";
    }
    checks.push_back(std::move(check));
  }
  // A filter is normal in a pod and lets our calls pass with the six capabilities; where it does
  // not, CapabilityError says so.
  checks.push_back({"seccomp", CheckStatus::kOk,
                    privileges.seccomp_filter ? "a filter is on" : "no filter", ""});
  return checks;
}

Error CapabilityError(Error error, PrivilegedCall call, const Privileges& privileges) {
  if (error.code() != ErrorCode::kPermission) return error;
  std::string message = error.message() + ": ";
  for (Capability capability : NeededFor(call)) {
    if (privileges.Has(capability)) continue;
    const CapabilityUse& use = UseOf(capability);
    message +=
        fmt::format("{} is missing ({}); {}", use.name, use.lost_without, HowToGrant(use.name));
    return {ErrorCode::kPermission, std::move(message), error.sys_errno()};
  }
  message += fmt::format("no capability is missing; {}", OtherReason(call));
  // Every pod has one, which as a rule lets them pass: no more than one reason of several.
  if (privileges.seccomp_filter) {
    message +=
        "; or a seccomp filter, which is on (Seccomp: 2), refuses it: let its profile allow bpf, "
        "perf_event_open and process_vm_readv";
  }
  return {ErrorCode::kPermission, std::move(message), error.sys_errno()};
}

Error CapabilityError(Error error, PrivilegedCall call) {
  auto privileges = ReadPrivileges("/proc");
  return privileges ? CapabilityError(std::move(error), call, *privileges) : error;
}

}  // namespace firetower::daemon
