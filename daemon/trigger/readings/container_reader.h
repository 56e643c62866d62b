// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "daemon/trigger/metric_source.h"
#include "daemon/trigger/readings/cgroup_roots.h"
#include "daemon/trigger/readings/counter_file.h"
#include "daemon/trigger/readings/node_reader.h"
#include "daemon/trigger/readings/rate.h"

namespace firetower::daemon {

// Reads the metrics of one container from the files of its cgroup. Opens a file only when it is
// needed. Reads limits again after kLimitAgeNs, because they may change. All reads with the same
// `moment_ns` share one look at the files.
class ContainerReader {
 public:
  static constexpr int64_t kLimitAgeNs = 10 * kNsPerSecond;

  ContainerReader(const CgroupRoots& roots, const Clock& clock, NodeReader& node,
                  ReadingBuffer& buffer, MeasuredContainer measured);

  void SetRequests(int64_t cpu_millis, int64_t memory_bytes);

  // Reads any container metric except OOMKill.
  MetricReading Read(k8s::Metric metric, int64_t moment_ns);

  // OOM kills counted by its own cgroup since the first look.
  struct Kills {
    uint64_t count = 0;
    NoReading missing = NoReading::kFirst;  // of the last look; `count` stays
  };
  const Kills& ReadKills(int64_t moment_ns);

  const Container& container() const { return *measured_.container; }

 private:
  static constexpr size_t kMetrics = static_cast<size_t>(k8s::Metric::kOomKill);
  struct Cached {
    std::optional<int64_t> moment_ns;
    MetricReading reading;
  };
  struct Limit {
    double amount = 0;  // 0: none
    std::optional<int64_t> read_ns;
  };

  std::string Folder(const std::string& root) const { return root + path_; }
  MetricReading ReadUncached(k8s::Metric metric);
  MetricReading ReadCpu();
  MetricReading ReadThrottled();
  MetricReading ReadMemory();
  MetricReading ReadPressure(size_t resource);
  MetricReading NotRead(NoReading why) const;
  bool Exists() const;
  bool IsStale(std::optional<int64_t>& read_ns) const;
  double CpuLimit();
  double MemoryLimit();
  double CpuLimitOf(const std::string& path) const;
  double MemoryLimitOf(const std::string& path) const;
  bool RunsInV2();

  const CgroupRoots& roots_;
  const Clock& clock_;
  NodeReader& node_;
  ReadingBuffer& buffer_;
  MeasuredContainer measured_;
  const std::string path_;      // of its cgroup; "" for the root
  const std::string pod_path_;  // "" where it is in no pod
  const bool v1_cpuacct_;
  const bool v1_cpu_;
  const bool v1_memory_;
  CounterFile usage_;
  CounterFile cpu_stat_;
  CounterFile memory_;
  CounterFile memory_stat_;
  CounterFile events_;
  std::array<CounterFile, 3> pressure_;  // cpu, memory, io
  Rate usage_rate_;
  Rate periods_rate_;
  Rate throttled_rate_;
  Rate throttled_time_rate_;
  std::array<Rate, 3> pressure_rates_;
  Limit cpu_limit_;
  Limit memory_limit_;
  std::optional<int64_t> populated_read_ns_;
  bool runs_in_v2_ = false;
  std::optional<uint64_t> kills_counted_;  // as its file had it last
  std::optional<int64_t> kills_moment_ns_;
  Kills kills_;
  std::array<Cached, kMetrics> cached_;
};

}  // namespace firetower::daemon
