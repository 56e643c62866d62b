// SPDX-License-Identifier: Apache-2.0
// A container's metrics in v1 hierarchies, alone and beside v2; Documentation/admin-guide/cgroup-v1
// says what the files hold.
#include "tests/unit/daemon/trigger/readings/trees.h"

namespace firetower::daemon {
namespace {

using k8s::Metric;

const auto kCart = PodContainer('a', '1');

class V1ReadingsTest : public TreeTest {
 protected:
  explicit V1ReadingsTest(const std::string& v2 = "") : TreeTest({v2, "cpu", "cpuacct", "memory"}) {
    Watch({kCart});
  }

  void V1(const std::string& root, const std::string& name, const std::string& text) {
    testing::WriteText(root + kCart->root_path + "/" + name, text);
  }
};

class HybridReadingsTest : public V1ReadingsTest {
 protected:
  HybridReadingsTest() : V1ReadingsTest("unified") {}

  void Pressure(uint64_t total) {
    V2(kCart->root_path, "cpu.pressure",
       fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", total));
  }
};

TEST_F(V1ReadingsTest, CpuIsInNanoseconds) {
  V1(roots_.v1_cpuacct, "cpuacct.usage", "5000000000\n");
  V1(roots_.v1_cpu, "cpu.cfs_period_us", "100000\n");
  V1(roots_.v1_cpu, "cpu.cfs_quota_us", "-1\n");
  Read(kCart, Metric::kContainerCpu);
  Seconds(1);
  V1(roots_.v1_cpuacct, "cpuacct.usage", "7000000000\n");
  MetricReading reading = Read(kCart, Metric::kContainerCpu);
  EXPECT_DOUBLE_EQ(reading.value, 2);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 50) << "of four CPUs";
  Seconds(10);
  V1(roots_.v1_cpu, "cpu.cfs_quota_us", "250000\n");
  V1(roots_.v1_cpuacct, "cpuacct.usage", "27000000000\n");
  reading = Read(kCart, Metric::kContainerCpu);
  EXPECT_DOUBLE_EQ(reading.value, 2);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 80) << "of 2.5";
}

TEST_F(V1ReadingsTest, ThrottledTimeIsInNanoseconds) {
  V1(roots_.v1_cpu, "cpu.stat", "nr_periods 10\nnr_throttled 0\nthrottled_time 0\n");
  Read(kCart, Metric::kContainerCpuThrottled);
  Seconds(1);
  V1(roots_.v1_cpu, "cpu.stat", "nr_periods 20\nnr_throttled 9\nthrottled_time 750000000\n");
  const MetricReading reading = Read(kCart, Metric::kContainerCpuThrottled);
  EXPECT_DOUBLE_EQ(reading.value, 0.75);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 90);
}

TEST_F(V1ReadingsTest, MemoryCountsTheWholeTree) {
  V1(roots_.v1_memory, "memory.usage_in_bytes", "104857600\n");
  V1(roots_.v1_memory, "memory.limit_in_bytes", "209715200\n");
  V1(roots_.v1_memory, "memory.stat", "inactive_file 1\ntotal_inactive_file 41943040\n");
  const MetricReading reading = Read(kCart, Metric::kContainerMemory);
  EXPECT_EQ(reading.value, 60 << 20);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 30);
}

TEST_F(V1ReadingsTest, KillsAreInOomControl) {
  V1(roots_.v1_memory, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 0);
  Seconds(1);
  V1(roots_.v1_memory, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 1);
  Seconds(1);
  std::filesystem::remove_all(roots_.v1_memory + kCart->root_path);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 1);
}

TEST_F(V1ReadingsTest, PressureIsNotServed) {
  EXPECT_EQ(Read(kCart, Metric::kContainerCpuPressure).missing, NoReading::kGone);
  Seconds(1);
  V1(roots_.v1_memory, "tasks", "1\n");
  EXPECT_EQ(Read(kCart, Metric::kContainerCpuPressure).missing, NoReading::kNotServed);
  EXPECT_EQ(metrics_->NotServedReason(Metric::kContainerCpuPressure),
            "cgroup v1 has no pressure of containers");
}

TEST_F(HybridReadingsTest, PressureIsOfWhatRunsInV2) {
  V2(kCart->root_path, "cgroup.events", "populated 0\nfrozen 0\n");
  Pressure(0);
  EXPECT_EQ(Read(kCart, Metric::kContainerCpuPressure).missing, NoReading::kNotServed);
  V2(kCart->root_path, "cgroup.events", "populated 1\nfrozen 0\n");
  Seconds(11);
  EXPECT_EQ(Read(kCart, Metric::kContainerCpuPressure).missing, NoReading::kFirst);
  Seconds(1);
  Pressure(250'000);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerCpuPressure).utilization_percent, 25);
}

TEST_F(HybridReadingsTest, TheRestComesFromTheControllersOwnHierarchies) {
  V2(kCart->root_path, "cpu.stat", "usage_usec 99\n");
  V1(roots_.v1_cpuacct, "cpuacct.usage", "0\n");
  Read(kCart, Metric::kContainerCpu);
  Seconds(1);
  V1(roots_.v1_cpuacct, "cpuacct.usage", "500000000\n");
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerCpu).value, 0.5);
}

}  // namespace
}  // namespace firetower::daemon
