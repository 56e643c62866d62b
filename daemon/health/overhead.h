// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::daemon {

// The parts of the daemon whose CPU is measured separately: its threads by name, BPF, and the rest.
inline constexpr std::array<std::string_view, 13> kOverheadComponents{
    "capture", "resolve", "tables",  "symbols", "export", "outbox", "upload",
    "push",    "watch",   "control", "http",    "bpf",    "other"};

struct ComponentCpu {
  std::string_view component;  // one of kOverheadComponents, never "bpf"
  int64_t cpu_ns = 0;          // since the start, never falls
};

// The daemon's own cost. Fields that could not be read are 0.
struct OverheadReading {
  std::vector<ComponentCpu> components;  // their sum is process_cpu_ns, give or take one reading
  int64_t process_cpu_ns = 0;
  int64_t resident_bytes = 0;
  int64_t private_bytes = 0;  // of these, no file's and no mapped BPF map's
  int64_t virtual_bytes = 0;
  int64_t open_fds = 0;
  int64_t max_fds = 0;
  double start_time_seconds = 0;  // since the Unix epoch
};

// The CPU time of the daemon since its start, and its current memory.
struct OwnTotals {
  int64_t cpu_ns = 0;        // that of its BPF programs included
  int64_t memory_bytes = 0;  // its own pages, and its BPF maps
};

int64_t ProcessCpuNs();  // CLOCK_PROCESS_CPUTIME_ID

// Reads the daemon's own cost from /proc. A thread "http-3" counts for component "http". Time of
// unknown threads, and of a thread between its last reading and its end, counts for "other". Owned
// by one thread. A reading opens a few files per thread, so it is meant for once per slice.
class OverheadMeter {
 public:
  explicit OverheadMeter(std::string proc_root = "/proc",
                         std::function<int64_t()> process_cpu_ns = ProcessCpuNs);
  OverheadReading Read();

 private:
  void ReadThreads();
  void ReadMemory(OverheadReading& reading) const;
  void ReadDescriptors(OverheadReading& reading) const;
  double StartTime() const;

  std::string proc_root_;
  std::function<int64_t()> process_cpu_ns_;
  std::map<std::string, int64_t> thread_ns_;          // live threads by tid: bounded by them
  std::map<std::string_view, int64_t> component_ns_;  // by kOverheadComponents
  double start_time_seconds_ = 0;
};

}  // namespace firetower::daemon
