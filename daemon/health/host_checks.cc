// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/host_checks.h"

#include <fmt/core.h>
#include <sys/timex.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"

namespace firetower::daemon {
namespace {

constexpr size_t kMaxSysctlBytes = 4096;
constexpr size_t kKallsymsPrefixBytes = 4096;
constexpr int kIpcLock = 14;
constexpr int kSysResource = 24;
constexpr int64_t kPerfControlPageBytes = 4096;
// Size of the sampler's maps with the default rings, rounded up.
constexpr uint64_t kMapBytes = 64u << 20;
// No file of ours is older: a clock before 2025 was never set.
constexpr int64_t kEarliestWallNs = int64_t{1'735'689'600} * kNsPerSecond;

Check Ok(std::string name, std::string message) {
  return {std::move(name), CheckStatus::kOk, std::move(message), ""};
}
Check Warn(std::string name, std::string message, std::string fix) {
  return {std::move(name), CheckStatus::kWarn, std::move(message), std::move(fix)};
}
Check Fail(std::string name, std::string message, std::string fix) {
  return {std::move(name), CheckStatus::kFail, std::move(message), std::move(fix)};
}

// A sysctl's number; nothing where the file is missing or holds something else.
std::optional<int64_t> ReadNumber(const std::string& path) {
  auto text = ReadFile(path, kMaxSysctlBytes);
  if (!text) return std::nullopt;
  int64_t value = 0;
  if (std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

// The first bytes of a file that may be long.
Result<std::string> ReadPrefix(const std::string& path, size_t bytes) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path));
  std::string out(bytes, '\0');
  ssize_t n = ::read(fd.get(), out.data(), out.size());
  if (n < 0) return ErrnoError("read " + path);
  out.resize(static_cast<size_t>(n));
  return out;
}

// Whether a line of kallsyms has an address that is not blanked out ("0000000000000000 T x").
bool ShowsAddresses(std::string_view kallsyms) {
  while (!kallsyms.empty()) {
    std::string_view line = kallsyms.substr(0, kallsyms.find('\n'));
    kallsyms.remove_prefix(std::min(kallsyms.size(), line.size() + 1));
    std::string_view address = line.substr(0, line.find(' '));
    // The first per-CPU symbol lies at 0 even where addresses are shown.
    if (address.find_first_not_of('0') != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Check PidNamespaceCheck(const std::string& proc_root) {
  // <linux/proc_ns.h>, PROC_PID_INIT_INO: the first namespace has this inode on every kernel.
  constexpr std::string_view kFirst = "pid:[4026531836]";
  std::error_code error;
  const std::string is = std::filesystem::read_symlink(proc_root + "/self/ns/pid", error).string();
  if (error) return Ok("pid-namespace", "not shown here");
  if (is == kFirst) return Ok("pid-namespace", "the node's own");
  return Warn("pid-namespace",
              "the daemon is in a PID namespace of its own: it sees no process of other "
              "containers, user frames have no names, and no filter matches a process",
              "set hostPID: true in its pod, or --pid=host for its container");
}

Check BtfCheck(const std::string& sys_root) {
  // <linux/btf.h>: BTF_MAGIC is 0xeB9F, in the byte order of the machine.
  constexpr uint16_t kMagic = 0xeB9F;
  std::string path = sys_root + "/kernel/btf/vmlinux";
  uint16_t magic = 0;
  auto head = ReadPrefix(path, sizeof(magic));
  if (!head) {
    return Fail("btf",
                head.error().message() + ": the BPF programs cannot be adapted to this kernel",
                "run a kernel built with CONFIG_DEBUG_INFO_BTF=y");
  }
  if (head->size() == sizeof(magic)) __builtin_memcpy(&magic, head->data(), sizeof(magic));
  if (magic != kMagic) {
    return Fail("btf", path + " is not BTF", "run a kernel built with CONFIG_DEBUG_INFO_BTF=y");
  }
  return Ok("btf", path);
}

Check LockdownCheck(const std::string& sys_root) {
  auto modes = ReadFile(sys_root + "/kernel/security/lockdown", kMaxSysctlBytes);
  if (!modes) return Ok("lockdown", "not in force, or not shown here");
  if (modes->find("[confidentiality]") != std::string::npos) {
    return Fail("lockdown", "mode confidentiality forbids BPF to read kernel memory",
                "boot with lockdown=integrity, or switch Secure Boot's confidentiality mode off");
  }
  return Ok("lockdown", modes->substr(0, modes->find('\n')));
}

Check KallsymsCheck(const std::string& proc_root, const Privileges& privileges) {
  auto text = ReadPrefix(proc_root + "/kallsyms", kKallsymsPrefixBytes);
  if (!text) {
    return Warn("kallsyms", text.error().message() + ": kernel frames have no names",
                "run a kernel built with CONFIG_KALLSYMS=y");
  }
  if (ShowsAddresses(*text)) return Ok("kallsyms", "kernel addresses are visible");
  if (ReadNumber(proc_root + "/sys/kernel/kptr_restrict").value_or(0) >= 2) {
    return Warn("kallsyms",
                "kernel.kptr_restrict is 2, which hides kernel addresses from everyone: kernel "
                "frames have no names",
                "sysctl kernel.kptr_restrict=1");
  }
  if (!privileges.Has(Capability::kSyslog)) {
    return Warn("kallsyms", "kernel addresses are hidden: kernel frames have no names",
                "grant CAP_SYSLOG");
  }
  return Warn("kallsyms", "kernel addresses are hidden: kernel frames have no names",
              "check kernel.kptr_restrict and kernel.perf_event_paranoid");
}

Check PerfParanoidCheck(const std::string& proc_root, const Privileges& privileges) {
  std::optional<int64_t> level = ReadNumber(proc_root + "/sys/kernel/perf_event_paranoid");
  if (!level) {
    return Fail("perf-paranoid",
                "kernel.perf_event_paranoid is missing: this kernel has no perf events",
                "run a kernel built with CONFIG_PERF_EVENTS=y");
  }
  std::string found = fmt::format("kernel.perf_event_paranoid is {}", *level);
  if (privileges.Has(Capability::kPerfmon))
    return Ok("perf-paranoid", found + ", which CAP_PERFMON overrides");
  // From 1 on, events of a whole CPU are refused without the capability (perf_event_open(2)).
  if (*level < 1) return Ok("perf-paranoid", found);
  return Fail("perf-paranoid", found + ", and CAP_PERFMON is missing: nothing is sampled",
              "grant CAP_PERFMON");
}

Check PerfMlockCheck(const std::string& proc_root, const Privileges& privileges,
                     int64_t sideband_ring_bytes) {
  std::optional<int64_t> budget_kb = ReadNumber(proc_root + "/sys/kernel/perf_event_mlock_kb");
  if (!budget_kb) return Ok("perf-mlock", "kernel.perf_event_mlock_kb is not shown here");
  int64_t needed = sideband_ring_bytes + kPerfControlPageBytes;
  int64_t budget = *budget_kb * 1024;
  std::string found = fmt::format("kernel.perf_event_mlock_kb is {}", *budget_kb);
  if (privileges.HasBit(kIpcLock))
    return Ok("perf-mlock", found + ", which CAP_IPC_LOCK overrides");
  if (needed <= budget) return Ok("perf-mlock", found);
  return Warn("perf-mlock",
              fmt::format("{}, below the {} of a sideband ring: rings are halved until they fit, "
                          "and bursts of new processes may lose mappings",
                          found, FormatBytes(needed)),
              fmt::format("sysctl kernel.perf_event_mlock_kb={}, or lower --sideband-ring-bytes",
                          (needed + 1023) / 1024));
}

Check MemlockCheck(const std::optional<KernelVersion>& kernel, const Privileges& privileges,
                   uint64_t limit_bytes) {
  if (kernel && *kernel >= KernelVersion{5, 11, 0}) {
    return Ok("memlock", "BPF maps count against the memory cgroup");
  }
  if (privileges.HasBit(kSysResource) || limit_bytes >= kMapBytes) {
    return Ok("memlock", "RLIMIT_MEMLOCK is high enough, or can be raised");
  }
  return Fail(
      "memlock",
      fmt::format("RLIMIT_MEMLOCK is {} bytes, and this kernel counts BPF maps against it",
                  limit_bytes),
      "raise the limit (systemd: LimitMEMLOCK=infinity), grant CAP_SYS_RESOURCE, or upgrade "
      "the kernel to 5.11 or later");
}

Check CgroupCheck(const CgroupFacts& facts) {
  if (!facts.error.empty()) {
    return Fail("cgroup", facts.error + ": samples cannot be attributed",
                "mount a cgroup hierarchy, and set --cgroup-hierarchy and --cgroup-root");
  }
  return Ok("cgroup", fmt::format("mode {}, samples carry ids of {}", facts.mode, facts.chosen));
}

ClockFacts ReadClockFacts() {
  ClockFacts facts;
  facts.wall_ns = Clock::System().WallNs();
  timex state{};
  int result = ::adjtimex(&state);  // modes is 0: it only asks.
  if (result >= 0) facts.synchronized = (state.status & STA_UNSYNC) == 0;
  return facts;
}

Check ClockCheck(const ClockFacts& facts) {
  if (facts.wall_ns < kEarliestWallNs) {
    return Fail("clock", "the clock is before 2025: profiles get the wrong time",
                "set the clock, and run a time service");
  }
  if (facts.synchronized == false) {
    return Warn("clock",
                "the kernel reports that no time service keeps the clock: the times of several "
                "machines may differ",
                "start chrony or systemd-timesyncd");
  }
  return Ok("clock", facts.synchronized ? "kept by a time service" : "set");
}

Check PolicyCheck(const PolicyFacts& facts) {
  const std::string counts = fmt::format("accepted {}, refused {}", facts.accepted, facts.refused);
  constexpr std::string_view kMend =
      "correct them: the log names each with its file, line and field";
  if (facts.accepted == 0) {
    return Warn("policies", "no policy is in force: nothing is profiled (" + counts + ")",
                std::string(facts.refused > 0 ? kMend
                                              : "put one into the folder of --policy or apply one "
                                                "to the cluster; docs/examples has some"));
  }
  if (facts.refused > 0) return Warn("policies", counts, std::string(kMend));
  return Ok("policies", counts);
}

}  // namespace firetower::daemon
