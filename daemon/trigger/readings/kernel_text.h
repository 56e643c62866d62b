// SPDX-License-Identifier: Apache-2.0
// Parsers for the kernel's files that triggers read. A truncated or malformed text gives nothing,
// never a smaller number: a number counts only with the character that ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace firetower::daemon {

// Parses a file with one number, such as memory.current or cpuacct.usage. Returns nothing for a
// negative number (cpu.cfs_quota_us of -1).
std::optional<uint64_t> ParseCount(std::string_view text);

// Finds a number in a flat keyed file (Documentation/admin-guide/cgroup-v2.rst): one line `key
// number` each.
std::optional<uint64_t> FindCount(std::string_view text, std::string_view key);

// Parses cpu.max, `quota period` in microseconds, into CPUs; 0 for `max`, which means no limit.
std::optional<double> ParseCpuMax(std::string_view text);

// Parses memory.max and memory.limit_in_bytes; 0 for no limit: `max`, or in v1 the highest number
// of pages.
std::optional<uint64_t> ParseMemoryMax(std::string_view text);

// Parses `total=` of the line `some` (Documentation/accounting/psi.rst), in microseconds.
std::optional<uint64_t> ParsePressureTotalUs(std::string_view text);

// Parses the first number of /proc/loadavg, the average over one minute.
std::optional<double> ParseLoadAverage(std::string_view text);

// Parses MemTotal of /proc/meminfo.
std::optional<uint64_t> ParseMemoryTotalBytes(std::string_view text);

// One line `cpu<N>` of /proc/stat, in ticks of USER_HZ (proc_stat(5)).
struct CpuTicks {
  uint64_t user = 0;    // user, nice; guest is in them
  uint64_t system = 0;  // system, irq, softirq
};
// Parses the lines in the order of the file; offline CPUs have none. Stops at a truncated line.
void ParseCpuTicks(std::string_view text, std::vector<CpuTicks>& cpus);

// The sum of the last two numbers of each line `cpu<N>` of /proc/schedstat
// (Documentation/scheduler/ sched-stats.rst).
struct RunDelay {
  uint64_t wait_ns = 0;  // of tasks that could run, before they did
  uint64_t runs = 0;
};
// Returns nothing below version 15, whose lines had other fields.
std::optional<RunDelay> ParseRunDelay(std::string_view text);

}  // namespace firetower::daemon
