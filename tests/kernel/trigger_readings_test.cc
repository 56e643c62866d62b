// SPDX-License-Identifier: Apache-2.0
// Readings of real cgroups, beside what the programs in them account for themselves. On this
// machine's hierarchies, and on other kernels under emulation, where v2 has all controllers. What a
// kernel has not must be told as such.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cstdio>
#include <iterator>
#include <numeric>

#include "daemon/trigger/readings/kernel_metrics.h"
#include "tests/kernel/cgroup_tasks.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::Burn;
using ::firetower::testing::CgroupTask;
using ::firetower::testing::RealCgroup;
using k8s::CpuScope;
using k8s::Metric;

constexpr int64_t kMiB = 1 << 20;

CgroupRoots MachineRoots() {
  const Result<std::string> mounts = ReadFile("/proc/self/mountinfo");
  return CgroupRootsOf(mounts.value_or(""), "/sys/fs/cgroup");
}

class TriggerReadings : public ::testing::Test {
 protected:
  void SetUp() override { metrics_.Watch({{cgroup_.container(), 0, 0}}); }

  MetricReading Look(Metric metric) {
    return metrics_.ReadContainer(*cgroup_.container(), metric, Clock::System().MonotonicNs());
  }
  MetricReading LookNode(Metric metric, CpuScope cpus = CpuScope::kAll) {
    return metrics_.ReadNode(metric, cpus, Clock::System().MonotonicNs());
  }

  const CgroupRoots roots_ = MachineRoots();
  RealCgroup cgroup_{roots_};
  KernelMetrics metrics_{"/proc", roots_, Clock::System()};
};

// Touches memory without the sanitizer, whose own memory would be charged too. The reading of zeros
// below does the same.
__attribute__((no_sanitize_address, no_sanitize_thread)) void TouchFreshMemory(int64_t bytes) {
  const long at = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* memory = reinterpret_cast<volatile char*>(at);
  for (int64_t page = 0; page < bytes; page += 4096) memory[page] = 1;
}

double CoresOf(int64_t cpu_ns, const MetricReading& reading) {
  return static_cast<double>(cpu_ns) / static_cast<double>(reading.at_ns - reading.from_ns);
}

TEST_F(TriggerReadings, CpuIsWhatTheBurnerUsed) {
  CgroupTask burner(cgroup_, -1, Burn);
  ASSERT_TRUE(burner.WaitTold(1));
  Look(Metric::kContainerCpu);
  const int64_t before_ns = burner.cpu_ns();
  ASSERT_TRUE(burner.WaitTold(50));
  const MetricReading reading = Look(Metric::kContainerCpu);
  ASSERT_TRUE(reading);
  const double own = CoresOf(burner.cpu_ns() - before_ns, reading);
  // It tells every 20 ms of a second.
  EXPECT_NEAR(reading.value, own, 0.05 * own);
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_NEAR(reading.utilization_percent, 100 * reading.value / cpus, 1e-6);
}

TEST_F(TriggerReadings, ThrottlingIsTheTimeThatTheQuotaTook) {
  ASSERT_TRUE(cgroup_.LimitCpu(20'000, 100'000));
  CgroupTask burner(cgroup_, -1, Burn);
  ASSERT_TRUE(burner.WaitTold(2));
  Look(Metric::kContainerCpuThrottled);
  Look(Metric::kContainerCpu);
  const int64_t before_ns = burner.cpu_ns();
  ASSERT_TRUE(burner.WaitTold(30));
  const MetricReading throttled = Look(Metric::kContainerCpuThrottled);
  const MetricReading cpu = Look(Metric::kContainerCpu);
  ASSERT_TRUE(throttled);
  ASSERT_TRUE(cpu);
  const double own = CoresOf(burner.cpu_ns() - before_ns, throttled);
  EXPECT_NEAR(cpu.value, own, 0.05);
  EXPECT_NEAR(cpu.utilization_percent, 100 * cpu.value / 0.2, 1e-6) << "the limit is 0.2";
  EXPECT_GT(cpu.utilization_percent, 50);
  // One thread that always wants to run: what it did not get, the quota took, or other programs.
  EXPECT_LE(throttled.value, 1 - own + 0.05);
  EXPECT_GT(throttled.value, 0.4);
  EXPECT_GT(throttled.utilization_percent, 60) << "of the periods";
}

TEST_F(TriggerReadings, MemoryIsWhatWasTouchedAndAnOomKillIsSeen) {
  ASSERT_TRUE(cgroup_.LimitMemory(64 * kMiB));
  CgroupTask hog(cgroup_, -1, [](CgroupTask::Body& body) {
    body.Tell();
    for (const int64_t more : {32 * kMiB, 96 * kMiB}) {
      body.WaitTurn();
      TouchFreshMemory(more);
      body.Tell();
    }
  });
  ASSERT_TRUE(hog.WaitTold(1));
  const MetricReading before = Look(Metric::kContainerMemory);
  EXPECT_EQ(Look(Metric::kOomKill).value, 0);
  hog.GiveTurn();
  ASSERT_TRUE(hog.WaitTold(1));
  const MetricReading after = Look(Metric::kContainerMemory);
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(after.value - before.value, 32.0 * kMiB, 2.0 * kMiB) << "charged in batches";
  EXPECT_NEAR(after.utilization_percent, 100 * after.value / (64.0 * kMiB), 1e-6);
  EXPECT_EQ(Look(Metric::kOomKill).value, 0);
  hog.GiveTurn();
  const int status = hog.WaitEnd();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  if (roots_.v1_memory.empty()) cgroup_.RemoveContainer();  // its pod tells of it
  EXPECT_EQ(Look(Metric::kOomKill).value, 1);
}

TEST_F(TriggerReadings, PressureIsTheTimeThatOneOfTwoWaited) {
  CgroupTask one(cgroup_, 0, Burn);
  CgroupTask other(cgroup_, 0, Burn);
  ASSERT_TRUE(one.WaitTold(1) && other.WaitTold(1));
  const MetricReading first = Look(Metric::kContainerCpuPressure);
  const MetricReading node_first = LookNode(Metric::kNodeCpuPressure);
  if (first.missing == NoReading::kNotServed) {
    const std::string v2 = roots_.v2 + cgroup_.container()->root_path + "/cpu.pressure";
    EXPECT_TRUE(roots_.v2.empty() || ::access(v2.c_str(), F_OK) != 0);
    return;
  }
  ASSERT_TRUE(one.WaitTold(25) && other.WaitTold(25));
  const MetricReading reading = Look(Metric::kContainerCpuPressure);
  ASSERT_TRUE(reading);
  // Two that want one CPU: one waits at any time.
  EXPECT_GT(reading.utilization_percent, 90);
  EXPECT_LT(reading.utilization_percent, 105);
  EXPECT_EQ(node_first.missing, NoReading::kFirst);
  EXPECT_GT(LookNode(Metric::kNodeCpuPressure).utilization_percent, 30);
}

// CPU time of any kind that the kernel counted, of all CPUs. Ticks are lost where an emulator does
// not get its CPU: then it is less than the time that passed.
double CountedSeconds() {
  const Result<std::string> text = ReadFile("/proc/stat");
  long long kinds[8] = {};
  EXPECT_EQ(std::sscanf(text.value_or("").c_str(), "cpu %lld %lld %lld %lld %lld %lld %lld %lld",
                        &kinds[0], &kinds[1], &kinds[2], &kinds[3], &kinds[4], &kinds[5], &kinds[6],
                        &kinds[7]),
            8);
  const long long ticks = std::accumulate(std::begin(kinds), std::end(kinds), 0LL);
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

TEST_F(TriggerReadings, UserAndSystemTimeOfTheNodeHoldTheBurners) {
  CgroupTask user(cgroup_, 0, Burn);
  CgroupTask system(cgroup_, 1, [](CgroupTask::Body& body) {
    std::string zeros(1 << 20, '\0');
    const int zero = ::open("/dev/zero", O_RDONLY);
    for (;;) {
      const clock_t end = ::clock() + CLOCKS_PER_SEC / 50;
      while (::clock() < end && ::syscall(SYS_read, zero, zeros.data(), zeros.size()) > 0) {
      }
      body.Tell();
    }
  });
  ASSERT_TRUE(user.WaitTold(1) && system.WaitTold(1));
  LookNode(Metric::kNodeCpuUser);
  const int64_t user_ns = user.user_ns();
  const int64_t system_ns = system.system_ns();
  const double counted_before = CountedSeconds();
  ASSERT_TRUE(user.WaitTold(50) && system.WaitTold(10));
  const int64_t moment_ns = Clock::System().MonotonicNs();
  const auto read = [&](Metric metric, CpuScope cpus) {
    return metrics_.ReadNode(metric, cpus, moment_ns);
  };
  const MetricReading all = read(Metric::kNodeCpuUser, CpuScope::kAll);
  const MetricReading any = read(Metric::kNodeCpuUser, CpuScope::kAny);
  const MetricReading kernel = read(Metric::kNodeCpuSystem, CpuScope::kAny);
  ASSERT_TRUE(all && any && kernel);
  const double seconds = static_cast<double>(all.at_ns - all.from_ns) / 1e9 *
                         static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double counted = (CountedSeconds() - counted_before) / seconds;
  // Others may run too, so at least the burner's.
  const double own = counted * CoresOf(user.user_ns() - user_ns, all);
  EXPECT_GE(any.value, 0.8 * own);
  EXPECT_LE(any.value, 1.05);
  EXPECT_GE(all.value, 0.8 * own);
  EXPECT_LE(any.value, all.value + 1e-9);
  const double copying = counted * CoresOf(system.system_ns() - system_ns, kernel);
  EXPECT_GE(kernel.value, 0.8 * copying);
  EXPECT_GT(copying, 0.2) << "copying zeros is the kernel's work";
}

// Nanoseconds that a task waited on a run queue: the second number of its schedstat file.
double WaitedSeconds(pid_t pid) {
  const Result<std::string> text = ReadFile(fmt::format("/proc/{}/schedstat", pid));
  long long ran = 0, waited = 0;
  EXPECT_EQ(std::sscanf(text.value_or("").c_str(), "%lld %lld", &ran, &waited), 2);
  return static_cast<double>(waited) / 1e9;
}

TEST_F(TriggerReadings, RunQueueDelayHoldsTheWaitsOfTheBurners) {
  CgroupTask one(cgroup_, 0, Burn);
  CgroupTask other(cgroup_, 0, Burn);
  ASSERT_TRUE(one.WaitTold(1) && other.WaitTold(1));
  if (LookNode(Metric::kRunQueueDelay).missing == NoReading::kNotServed) {
    EXPECT_NE(::access("/proc/schedstat", F_OK), 0);
    return;
  }
  const double before = WaitedSeconds(one.pid()) + WaitedSeconds(other.pid());
  ASSERT_TRUE(one.WaitTold(25) && other.WaitTold(25));
  const double waited = WaitedSeconds(one.pid()) + WaitedSeconds(other.pid()) - before;
  const MetricReading reading = LookNode(Metric::kRunQueueDelay);
  ASSERT_TRUE(reading);
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double seconds = static_cast<double>(reading.at_ns - reading.from_ns) / 1e9;
  EXPECT_GE(reading.utilization_percent / 100 * cpus * seconds, 0.9 * waited);
  EXPECT_GT(reading.value, 0);
  EXPECT_LT(reading.value, 1);
}

}  // namespace
}  // namespace firetower::daemon
