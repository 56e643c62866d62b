// SPDX-License-Identifier: Apache-2.0
// A container's metrics in the unified hierarchy; Documentation/admin-guide/cgroup-v2.rst says what
// the files hold.
#include "tests/unit/daemon/trigger/readings/trees.h"

namespace firetower::daemon {
namespace {

using k8s::Metric;

class V2ReadingsTest : public TreeTest {
 protected:
  V2ReadingsTest() : TreeTest({"v2", "", "", ""}) { Watch({kCart}); }

  void Cpu(uint64_t usage_us, uint64_t periods = 0, uint64_t throttled = 0, uint64_t wait_us = 0) {
    V2(kCart->root_path, "cpu.stat",
       fmt::format("usage_usec {}\nuser_usec 0\nsystem_usec 0\nnr_periods {}\nnr_throttled {}\n"
                   "throttled_usec {}\n",
                   usage_us, periods, throttled, wait_us));
  }
  void Memory(uint64_t usage, uint64_t inactive_file) {
    V2(kCart->root_path, "memory.current", fmt::format("{}\n", usage));
    V2(kCart->root_path, "memory.stat",
       fmt::format("anon 4096\nfile 8192\nactive_file 1\ninactive_file {}\n", inactive_file));
  }
  void Kills(const std::string& path, int count) {
    V2(path, "memory.events",
       fmt::format("low 0\nhigh 0\nmax 9\noom 9\noom_kill {}\noom_group_kill 0\n", count));
  }

  static std::string PodPath() { return std::filesystem::path(kCart->root_path).parent_path(); }

  inline static const auto kCart = PodContainer('a', '1');
  inline static const auto kProxy = PodContainer('a', '2');
};

TEST_F(V2ReadingsTest, CpuIsTheMeanBetweenTwoLooks) {
  Cpu(1'000'000);
  EXPECT_EQ(Read(kCart, Metric::kContainerCpu).missing, NoReading::kFirst);
  Seconds(2);
  Cpu(2'000'000);
  const MetricReading reading = Read(kCart, Metric::kContainerCpu);
  ASSERT_TRUE(reading);
  EXPECT_DOUBLE_EQ(reading.value, 0.5);
  EXPECT_EQ(reading.from_ns, 100 * kNsPerSecond);
  EXPECT_EQ(reading.at_ns, 102 * kNsPerSecond);
}

// The base is the limit, else the pod's limit, else the request, else the node.
TEST_F(V2ReadingsTest, CpuUtilizationIsOfWhatTheContainerMayUse) {
  uint64_t used = 0;
  const auto utilization = [&] {
    Cpu(used += 10'000'000);
    Read(kCart, Metric::kContainerCpu);
    Seconds(20);  // limits are looked at again
    Cpu(used += 10'000'000);
    return Read(kCart, Metric::kContainerCpu).utilization_percent;
  };
  EXPECT_DOUBLE_EQ(utilization(), 12.5) << "half a core of four";
  Seconds(1);
  Watch({kCart}, 250);
  EXPECT_DOUBLE_EQ(utilization(), 200) << "half a core of 250m";
  Seconds(1);
  V2(PodPath(), "cpu.max", "200000 100000\n");
  V2(kCart->root_path, "cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(utilization(), 25) << "half a core of two";
  Seconds(1);
  V2(kCart->root_path, "cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(utilization(), 50);
}

TEST_F(V2ReadingsTest, OneMomentIsOneLook) {
  Cpu(0);
  Read(kCart, Metric::kContainerCpu);
  Seconds(1);
  Cpu(500'000);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerCpu).value, 0.5);
  Cpu(900'000);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerCpu).value, 0.5) << "another policy asks";
}

TEST_F(V2ReadingsTest, ACounterThatWasSetBackBeginsAgain) {
  Cpu(5'000'000);
  Read(kCart, Metric::kContainerCpu);
  Seconds(1);
  Cpu(100);
  EXPECT_EQ(Read(kCart, Metric::kContainerCpu).missing, NoReading::kUnreadable);
  Seconds(1);
  Cpu(500'100);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerCpu).value, 0.5);
}

TEST_F(V2ReadingsTest, ThrottlingIsOfPeriodsAndOfTime) {
  Cpu(0, 100, 10, 1'000'000);
  EXPECT_EQ(Read(kCart, Metric::kContainerCpuThrottled).missing, NoReading::kFirst);
  Seconds(1);
  Cpu(0, 110, 14, 1'300'000);
  const MetricReading reading = Read(kCart, Metric::kContainerCpuThrottled);
  ASSERT_TRUE(reading);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 40);
  EXPECT_DOUBLE_EQ(reading.value, 0.3);
  Seconds(1);
  const MetricReading idle = Read(kCart, Metric::kContainerCpuThrottled);
  ASSERT_TRUE(idle) << "no period is no throttling";
  EXPECT_EQ(idle.utilization_percent, 0);
}

TEST_F(V2ReadingsTest, WithoutTheCpuControllerNothingThrottles) {
  V2(kCart->root_path, "cpu.stat", "usage_usec 1\nuser_usec 1\nsystem_usec 0\n");
  EXPECT_EQ(Read(kCart, Metric::kContainerCpuThrottled).missing, NoReading::kNotServed);
  EXPECT_EQ(Read(kCart, Metric::kContainerCpu).missing, NoReading::kFirst);
}

TEST_F(V2ReadingsTest, MemoryIsTheWorkingSet) {
  V2(kCart->root_path, "memory.max", "1073741824\n");
  Memory(768 << 20, 256 << 20);
  const MetricReading reading = Read(kCart, Metric::kContainerMemory);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading.value, 512 << 20);
  EXPECT_DOUBLE_EQ(reading.utilization_percent, 50);
  EXPECT_EQ(reading.from_ns, reading.at_ns);
  Seconds(1);
  Memory(4096, 8192);
  EXPECT_EQ(Read(kCart, Metric::kContainerMemory).value, 0) << "the two are read one by one";
}

TEST_F(V2ReadingsTest, MemoryUtilizationIsOfWhatTheContainerMayUse) {
  Memory(1 << 30, 0);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerMemory).utilization_percent, 25) << "of 4 GiB";
  Seconds(11);
  Watch({kCart}, 0, 2LL << 30);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerMemory).utilization_percent, 50);
  Seconds(11);
  V2(PodPath(), "memory.max", "8589934592\n");
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerMemory).utilization_percent, 12.5);
  Seconds(11);
  V2(kCart->root_path, "memory.max", "1073741824\n");
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerMemory).utilization_percent, 100);
}

TEST_F(V2ReadingsTest, PressureIsTheShareOfTime) {
  const auto pressure = [&](const char* name, uint64_t total) {
    V2(kCart->root_path, name,
       fmt::format("some avg10=99.99 avg60=0.00 avg300=0.00 total={}\n"
                   "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
                   total));
  };
  for (const char* name : {"cpu.pressure", "memory.pressure", "io.pressure"}) pressure(name, 7);
  for (const Metric metric : {Metric::kContainerCpuPressure, Metric::kContainerMemoryPressure,
                              Metric::kContainerIoPressure}) {
    EXPECT_EQ(Read(kCart, metric).missing, NoReading::kFirst);
  }
  Seconds(2);
  pressure("cpu.pressure", 7 + 1'000'000);
  pressure("memory.pressure", 7 + 200'000);
  pressure("io.pressure", 7 + 20'000);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerCpuPressure).utilization_percent, 50);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerMemoryPressure).utilization_percent, 10);
  EXPECT_DOUBLE_EQ(Read(kCart, Metric::kContainerIoPressure).utilization_percent, 1);
}

TEST_F(V2ReadingsTest, WhatAKernelHasNotIsToldFromWhatIsGone) {
  EXPECT_EQ(Read(kCart, Metric::kContainerIoPressure).missing, NoReading::kGone);
  EXPECT_EQ(Read(kCart, Metric::kContainerMemory).missing, NoReading::kGone);
  V2(kCart->root_path, "cgroup.procs", "1\n");
  EXPECT_EQ(Read(kProxy, Metric::kContainerMemory).missing, NoReading::kGone) << "not watched";
  Seconds(1);
  EXPECT_EQ(Read(kCart, Metric::kContainerIoPressure).missing, NoReading::kNotServed);
  EXPECT_EQ(Read(kCart, Metric::kContainerMemory).missing, NoReading::kNotServed);
  EXPECT_FALSE(metrics_->NotServedReason(Metric::kContainerIoPressure).empty());
}

TEST_F(V2ReadingsTest, CountsKillsSinceTheFirstLook) {
  Kills(kCart->root_path, 3);
  Kills(PodPath(), 3);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 0);
  Seconds(1);
  Kills(kCart->root_path, 5);
  Kills(PodPath(), 5);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 2);
  Seconds(1);
  Kills(kCart->root_path, 1);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 3) << "the cgroup came anew";
}

// The kernel kills the main process, and the runtime removes the cgroup within the second. A
// folder's open files outlive it, unlike a cgroup's: who goes in these tests has no file of kills.
TEST_F(V2ReadingsTest, APodTellsOfTheKillOfAContainerThatIsGone) {
  Watch({kCart, kProxy});
  Kills(kCart->root_path, 0);
  V2(kProxy->root_path, "cgroup.procs", "1\n");
  Kills(PodPath(), 0);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 0);
  Seconds(1);
  std::filesystem::remove_all(roots_.v2 + kProxy->root_path);
  Kills(PodPath(), 1);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 0);
  EXPECT_EQ(Read(kProxy, Metric::kOomKill).value, 1);
  Seconds(1);
  Kills(kCart->root_path, 1);
  Kills(PodPath(), 2);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 1);
  EXPECT_EQ(Read(kProxy, Metric::kOomKill).value, 1);
}

TEST_F(V2ReadingsTest, AKillInAContainerThatIsNotWatchedIsNobodys) {
  V2(kCart->root_path, "cgroup.procs", "1\n");
  Kills(PodPath(), 0);
  Read(kCart, Metric::kOomKill);
  Seconds(1);
  Kills(PodPath(), 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 0);
    Seconds(1);
  }
  std::filesystem::remove_all(roots_.v2 + kCart->root_path);
  EXPECT_EQ(Read(kCart, Metric::kOomKill).value, 0) << "it ended by itself, seconds later";
}

TEST_F(V2ReadingsTest, OpensNoMoreFilesThanItMay) {
  std::vector<std::shared_ptr<const Container>> containers;
  for (int i = 0; i < 530; ++i) {
    auto container = std::make_shared<Container>(*kCart);
    container->root_path += std::to_string(i);
    V2(container->root_path, "cpu.stat", "usage_usec 0\n");
    containers.push_back(std::move(container));
  }
  const auto open_files = [] {
    const auto folder = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(folder), end(folder));
  };
  const auto before = open_files();
  Watch(containers);
  for (const auto& container : containers) Read(container, Metric::kContainerCpu);
  EXPECT_GE(open_files() - before, 500);
  EXPECT_LE(open_files() - before, 520);
  Seconds(1);
  V2(containers.back()->root_path, "cpu.stat", "usage_usec 250000\n");
  EXPECT_DOUBLE_EQ(Read(containers.back(), Metric::kContainerCpu).value, 0.25) << "opened anew";
  Watch({});
  EXPECT_LE(open_files() - before, 2);
}

}  // namespace
}  // namespace firetower::daemon
