// SPDX-License-Identifier: Apache-2.0
// KernelMetrics on folders with the shape of /proc and of cgroup hierarchies.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/trigger/readings/kernel_metrics.h"
#include "tests/support/command.h"
#include "tests/support/fake_proc.h"
#include "tests/unit/daemon/trigger/pod_container.h"

namespace firetower::daemon {

class TreeTest : public ::testing::Test {
 protected:
  explicit TreeTest(const CgroupRoots& roots) : roots_(roots) {
    for (std::string* root : {&roots_.v2, &roots_.v1_cpu, &roots_.v1_cpuacct, &roots_.v1_memory}) {
      if (!root->empty()) *root = folder_.path() + "/" + *root;
    }
    Proc("stat",
         "cpu  1 1 1 1 1 1 1 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n"
         "cpu2 0 0 0 0 0 0 0 0 0 0\ncpu3 0 0 0 0 0 0 0 0 0 0\nintr 0\n");
    Proc("meminfo", "MemTotal:        4194304 kB\n");
    metrics_ = std::make_unique<KernelMetrics>(folder_.path() + "/proc", roots_, clock_);
  }

  void Proc(const std::string& name, const std::string& text) {
    testing::WriteText(folder_.path() + "/proc/" + name, text);
  }
  void V2(const std::string& path, const std::string& name, const std::string& text) {
    testing::WriteText(roots_.v2 + path + "/" + name, text);
  }
  void Watch(const std::vector<std::shared_ptr<const Container>>& containers,
             int64_t cpu_millis = 0, int64_t memory_bytes = 0) {
    std::vector<MeasuredContainer> measured;
    for (const auto& container : containers)
      measured.push_back({container, cpu_millis, memory_bytes});
    metrics_->Watch(measured);
  }
  MetricReading Read(const std::shared_ptr<const Container>& container, k8s::Metric metric) {
    return metrics_->ReadContainer(*container, metric, clock_.MonotonicNs());
  }
  MetricReading ReadNode(k8s::Metric metric, k8s::CpuScope cpus = k8s::CpuScope::kAll) {
    return metrics_->ReadNode(metric, cpus, clock_.MonotonicNs());
  }
  void Seconds(int seconds) { clock_.Advance(seconds * kNsPerSecond); }

  testing::ScratchFolder folder_;
  CgroupRoots roots_;
  FakeClock clock_{100 * kNsPerSecond, 0};
  std::unique_ptr<KernelMetrics> metrics_;
};

}  // namespace firetower::daemon
