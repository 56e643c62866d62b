// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/trigger/metric_source.h"
#include "daemon/trigger/readings/counter_file.h"
#include "daemon/trigger/readings/kernel_text.h"
#include "daemon/trigger/readings/rate.h"
#include "k8s/policy/enums.h"

namespace firetower::daemon {

// Reads the node's metrics from files of /proc. Opens a file only when it is needed. All reads with
// the same `moment_ns` share one look at the files.
class NodeReader {
 public:
  NodeReader(const std::string& proc_root, const Clock& clock, ReadingBuffer& buffer);

  MetricReading Read(k8s::Metric metric, k8s::CpuScope cpus, int64_t moment_ns);

  // Return the node's size, against which containers without limit and request are measured. Read
  // again after a minute. 0: not known.
  double Cpus();
  double MemoryBytes();

 private:
  static constexpr size_t kMetrics = k8s::kEnumNames<k8s::Metric>.size();
  struct CpuLook {
    std::vector<CpuTicks> ticks;
    int64_t at_ns = 0;
    int64_t moment_ns = 0;
  };
  struct Cached {
    std::optional<int64_t> moment_ns;
    MetricReading reading;
  };
  struct Size {
    double number = 0;
    std::optional<int64_t> read_ns;
  };

  MetricReading ReadUncached(k8s::Metric metric);
  MetricReading ReadCpu(bool system, k8s::CpuScope cpus, int64_t moment_ns);
  MetricReading ReadLoad();
  MetricReading ReadPressure(size_t resource);
  MetricReading ReadRunDelay();
  bool IsStale(Size& size) const;

  const Clock& clock_;
  CounterFile stat_;
  CounterFile load_;
  std::array<CounterFile, 3> pressure_;  // cpu, memory, io
  CounterFile schedstat_;
  CounterFile meminfo_;
  CpuLook last_look_;
  CpuLook look_before_;
  std::array<Rate, 3> pressure_rates_;
  Rate wait_rate_;
  Rate run_rate_;
  Size cpus_;
  Size memory_;
  std::array<Cached, kMetrics> cached_;
};

}  // namespace firetower::daemon
