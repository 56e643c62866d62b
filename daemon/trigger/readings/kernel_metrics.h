// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "daemon/trigger/metric_source.h"
#include "daemon/trigger/readings/cgroup_roots.h"
#include "daemon/trigger/readings/container_reader.h"
#include "daemon/trigger/readings/counter_file.h"
#include "daemon/trigger/readings/node_reader.h"
#include "daemon/trigger/readings/pod_kills.h"

namespace firetower::daemon {

// Reads metrics from the kernel's files. Owned by one thread. Bounded by the watched containers; at
// most 512 files stay open.
class KernelMetrics : public MetricSource {
 public:
  KernelMetrics(const std::string& proc_root, CgroupRoots roots, const Clock& clock);
  ~KernelMetrics() override;

  void Watch(const std::vector<MeasuredContainer>& containers) override;
  MetricReading ReadContainer(const Container& container, k8s::Metric metric,
                              int64_t now_ns) override;
  MetricReading ReadNode(k8s::Metric metric, k8s::CpuScope cpus, int64_t now_ns) override;
  std::string_view NotServedReason(k8s::Metric metric) const override;

 private:
  struct Watched;
  struct Pod;

  MetricReading ReadKills(Watched& watched, int64_t now_ns);

  const CgroupRoots roots_;
  const Clock& clock_;
  ReadingBuffer buffer_;
  NodeReader node_;
  std::unordered_map<std::string, std::unique_ptr<Watched>> watched_;  // by root path
  std::unordered_map<std::string, std::unique_ptr<Pod>> pods_;         // by path; v2 alone
};

}  // namespace firetower::daemon
