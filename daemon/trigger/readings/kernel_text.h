// SPDX-License-Identifier: Apache-2.0
// Parsers of the kernel's files that triggers read. A text that is cut short or malformed gives
// nothing, never a smaller number: a number counts only with the character that ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace firetower::daemon {

// A file of one number, such as memory.current or cpuacct.usage. A negative one (cpu.cfs_quota_us
// of -1) is nothing.
std::optional<uint64_t> ParseCount(std::string_view text);

// Flat keyed files (Documentation/admin-guide/cgroup-v2.rst): a line `key number` each.
std::optional<uint64_t> FindCount(std::string_view text, std::string_view key);

// cpu.max: `quota period`, both in microseconds, as CPUs; 0 for `max`, no limit.
std::optional<double> ParseCpuMax(std::string_view text);

// memory.max and memory.limit_in_bytes; 0 for `max`, no limit. v1 writes the highest number of
// pages for it.
std::optional<uint64_t> ParseMemoryMax(std::string_view text);

// `total=` of the line `some` (Documentation/accounting/psi.rst), in microseconds.
std::optional<uint64_t> ParsePressureTotalUs(std::string_view text);

// The first number of /proc/loadavg: of one minute.
std::optional<double> ParseLoadAverage(std::string_view text);

// MemTotal of /proc/meminfo.
std::optional<uint64_t> ParseMemoryTotalBytes(std::string_view text);

// A line `cpu<N>` of /proc/stat, in ticks of USER_HZ (proc_stat(5)).
struct CpuTicks {
  uint64_t user = 0;    // user, nice; guest is in them
  uint64_t system = 0;  // system, irq, softirq
};
// By place, in the order of the file: offline CPUs have no line. A line that is cut ends it.
void ParseCpuTicks(std::string_view text, std::vector<CpuTicks>& cpus);

// The last two numbers of each line `cpu<N>` of /proc/schedstat (Documentation/scheduler/
// sched-stats.rst), added up.
struct RunDelay {
  uint64_t wait_ns = 0;  // of tasks that could run, before they did
  uint64_t runs = 0;
};
// Nothing below version 15, whose lines had other fields.
std::optional<RunDelay> ParseRunDelay(std::string_view text);

}  // namespace firetower::daemon
