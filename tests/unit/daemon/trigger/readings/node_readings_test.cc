// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "tests/unit/daemon/trigger/readings/trees.h"

namespace firetower::daemon {
namespace {

using k8s::CpuScope;
using k8s::Metric;

class NodeReadingsTest : public TreeTest {
 protected:
  NodeReadingsTest() : TreeTest({"v2", "", "", ""}) {}

  // Two CPUs, in percent of `seconds`, since a start of 1000 ticks each.
  void Stat(int user0, int nice0, int system0, int irq0, int softirq0, int user1) {
    const int64_t hz = ::sysconf(_SC_CLK_TCK);
    const auto ticks = [&](int percent) { return 1000 + percent * hz / 100; };
    Proc("stat", fmt::format("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 {} {} {} 5 6 {} {} 7 8 9\n"
                             "cpu1 {} 1000 1000 5 6 1000 1000 7 8 9\nintr 1 2 3\n",
                             ticks(user0), ticks(nice0), ticks(system0), ticks(irq0),
                             ticks(softirq0), ticks(user1)));
  }
};

TEST_F(NodeReadingsTest, CpuTimeIsOfAllOrOfTheBusiest) {
  Stat(0, 0, 0, 0, 0, 0);
  EXPECT_EQ(ReadNode(Metric::kNodeCpuUser).missing, NoReading::kFirst);
  Seconds(1);
  Stat(10, 20, 5, 1, 4, 70);
  const MetricReading user = ReadNode(Metric::kNodeCpuUser);
  ASSERT_TRUE(user);
  EXPECT_NEAR(user.utilization_percent, 50, 1e-9) << "user and nice: 30 and 70 of two";
  EXPECT_NEAR(user.value, 1, 1e-9);
  const MetricReading any = ReadNode(Metric::kNodeCpuUser, CpuScope::kAny);
  EXPECT_NEAR(any.utilization_percent, 70, 1e-9);
  EXPECT_NEAR(any.value, 0.7, 1e-9);
  EXPECT_NEAR(ReadNode(Metric::kNodeCpuSystem).utilization_percent, 5, 1e-9) << "10 of two";
  EXPECT_NEAR(ReadNode(Metric::kNodeCpuSystem, CpuScope::kAny).utilization_percent, 10, 1e-9);
}

TEST_F(NodeReadingsTest, ACpuThatComesBeginsAgain) {
  Stat(0, 0, 0, 0, 0, 0);
  ReadNode(Metric::kNodeCpuUser);
  Seconds(1);
  Proc("stat", "cpu  9 0 0 0 0 0 0\ncpu0 9 0 0 0 0 0 0\n");
  EXPECT_EQ(ReadNode(Metric::kNodeCpuUser).missing, NoReading::kFirst);
  Seconds(1);
  EXPECT_TRUE(ReadNode(Metric::kNodeCpuUser));
}

TEST_F(NodeReadingsTest, LoadIsOfTheCpus) {
  Proc("loadavg", "6.00 1.00 1.00 1/2 3\n");
  const MetricReading reading = ReadNode(Metric::kNodeLoad);
  ASSERT_TRUE(reading);
  EXPECT_DOUBLE_EQ(reading.value, 6);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 150) << "of four";
}

TEST_F(NodeReadingsTest, PressureIsTheShareOfTime) {
  const auto pressure = [&](const std::string& name, uint64_t total) {
    Proc("pressure/" + name,
         fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", total));
  };
  const std::pair<const char*, Metric> kinds[] = {{"cpu", Metric::kNodeCpuPressure},
                                                  {"memory", Metric::kNodeMemoryPressure},
                                                  {"io", Metric::kNodeIoPressure}};
  uint64_t total = 100;
  for (const auto& [name, metric] : kinds) {
    pressure(name, 0);
    EXPECT_EQ(ReadNode(metric).missing, NoReading::kFirst);
  }
  Seconds(1);
  for (const auto& [name, metric] : kinds) {
    pressure(name, total * 1000);
    EXPECT_DOUBLE_EQ(ReadNode(metric).utilization_percent, static_cast<double>(total) / 10);
    total += 100;
  }
}

TEST_F(NodeReadingsTest, RunQueueDelayIsOfATaskAndOfTheCpus) {
  const auto schedstat = [&](uint64_t wait_ns, uint64_t runs) {
    Proc("schedstat", fmt::format("version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 5 {} {}\n"
                                  "cpu1 0 0 0 0 0 0 5 1000 10\n",
                                  wait_ns, runs));
  };
  schedstat(0, 0);
  EXPECT_EQ(ReadNode(Metric::kRunQueueDelay).missing, NoReading::kFirst);
  Seconds(2);
  schedstat(800'000'000, 400);
  const MetricReading reading = ReadNode(Metric::kRunQueueDelay);
  ASSERT_TRUE(reading);
  EXPECT_DOUBLE_EQ(reading.value, 0.002) << "0.8 s in 400 runs";
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 10) << "0.4 s a second, of four CPUs";
  Seconds(1);
  EXPECT_EQ(ReadNode(Metric::kRunQueueDelay).value, 0) << "nothing ran";
}

TEST_F(NodeReadingsTest, SaysWhatThisKernelHasNot) {
  for (const Metric metric : {Metric::kNodeCpuPressure, Metric::kRunQueueDelay}) {
    EXPECT_EQ(ReadNode(metric).missing, NoReading::kNotServed);
    EXPECT_NE(metrics_->NotServedReason(metric).find("CONFIG_"), std::string_view::npos);
  }
}

TEST(CgroupRoots, AreWhereTheControllersAreMounted) {
  // CentOS 7's, with v2 beside it, and Debian 12's.
  const CgroupRoots hybrid = CgroupRootsOf(
      "25 24 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
      "31 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:16 - cgroup cgroup rw,cpu,cpuacct\n"
      "36 24 0:33 / /sys/fs/cgroup/memory rw shared:21 - cgroup cgroup rw,memory\n"
      "90 24 0:33 / /sys/fs/cgroup/again rw shared:21 - cgroup cgroup rw,memory\n"
      "91 24 0:33 / /elsewhere rw shared:21 - cgroup cgroup rw,memory\n",
      "/sys/fs/cgroup");
  EXPECT_EQ(hybrid.v2, "/sys/fs/cgroup/unified");
  EXPECT_EQ(hybrid.v1_cpu, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(hybrid.v1_cpuacct, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(hybrid.v1_memory, "/sys/fs/cgroup/memory");
  EXPECT_TRUE(hybrid.hybrid());
  const CgroupRoots pure = CgroupRootsOf(
      "26 22 0:23 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,memory\n", "/sys/fs/cgroup");
  EXPECT_EQ(pure.v2, "/sys/fs/cgroup");
  EXPECT_EQ(pure.v1_memory, "");
  EXPECT_FALSE(pure.hybrid());
}

}  // namespace
}  // namespace firetower::daemon
