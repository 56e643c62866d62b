// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/overhead.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "base/file.h"
#include "base/thread.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kMs = 1'000'000;

int64_t Cpu(const OverheadReading& reading, std::string_view component) {
  for (const ComponentCpu& one : reading.components) {
    if (one.component == component) return one.cpu_ns;
  }
  return -1;
}

// A /proc with one process, written file by file.
class FakeProc {
 public:
  FakeProc() : root_(::testing::TempDir() + "/proc-" + std::to_string(::getpid())) {
    EXPECT_TRUE(MakeDirectories(root_ + "/self/fd"));
    for (const char* fd : {"0", "1", "2", "3"}) Write("self/fd/" + std::string(fd), "");
    Write("self/statm", "1000 200 50 1 0 60 0\n");
    Write("self/stat", Stat("firetowerd (x) y", 0, 0, 5000));
    Write("stat", "cpu  1 2 3\nctxt 5\nbtime 1700000000\nprocesses 9\n");
  }
  void Thread(const std::string& tid, const std::string& name, int64_t ns) {
    EXPECT_TRUE(MakeDirectories(root_ + "/self/task/" + tid));
    Write("self/task/" + tid + "/stat", Stat(name, 0, 0, 0));
    Write("self/task/" + tid + "/schedstat", std::to_string(ns) + " 17 3\n");
  }
  void ThreadInTicks(const std::string& tid, const std::string& name, int user, int system) {
    EXPECT_TRUE(MakeDirectories(root_ + "/self/task/" + tid));
    Write("self/task/" + tid + "/stat", Stat(name, user, system, 0));
  }
  void End(const std::string& tid) {
    for (const char* file : {"/stat", "/schedstat"}) {
      ::unlink((root_ + "/self/task/" + tid + file).c_str());
    }
  }
  const std::string& root() const { return root_; }

 private:
  static std::string Stat(const std::string& name, int user, int system, int start) {
    return "7 (" + name + ") S 1 1 1 0 -1 4194560 1 2 3 4 " + std::to_string(user) + " " +
           std::to_string(system) + " 0 0 20 0 1 0 " + std::to_string(start) + " 1 2\n";
  }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(root_ + "/" + path) << text;
  }
  std::string root_;
};

TEST(OverheadMeter, TellsThreadsApartAndLosesNothing) {
  FakeProc proc;
  int64_t process_ns = 100 * kMs;
  OverheadMeter meter(proc.root(), [&] { return process_ns; });
  proc.Thread("1", "capture", 30 * kMs);
  proc.Thread("2", "http-loop", 10 * kMs);
  proc.Thread("3", "http-worker", 5 * kMs);
  proc.Thread("4", "stranger) x", 20 * kMs);
  OverheadReading reading = meter.Read();
  EXPECT_EQ(Cpu(reading, "capture"), 30 * kMs);
  EXPECT_EQ(Cpu(reading, "http"), 15 * kMs);
  EXPECT_EQ(Cpu(reading, "resolve"), 0) << "a part that did nothing shows zero";
  EXPECT_EQ(Cpu(reading, "other"), 55 * kMs);

  // An ended thread keeps its time, its unseen time counts as "other", and its id is reused.
  proc.End("2");
  proc.Thread("3", "resolve", 2 * kMs);
  process_ns = 120 * kMs;
  reading = meter.Read();
  EXPECT_EQ(Cpu(reading, "http"), 15 * kMs);
  EXPECT_EQ(Cpu(reading, "resolve"), 2 * kMs);
  EXPECT_EQ(Cpu(reading, "other"), 73 * kMs);
  int64_t sum = 0;
  for (const ComponentCpu& one : reading.components) sum += one.cpu_ns;
  EXPECT_EQ(sum, process_ns);
}

TEST(OverheadMeter, FallsBackToTicks) {
  FakeProc proc;
  proc.ThreadInTicks("21", "export", 3, 4);
  OverheadMeter meter(proc.root(), [] { return int64_t{0}; });
  EXPECT_EQ(Cpu(meter.Read(), "export"), 7 * 1000 * kMs / ::sysconf(_SC_CLK_TCK));
}

TEST(OverheadMeter, ReadsMemoryDescriptorsAndStart) {
  FakeProc proc;
  OverheadMeter meter(proc.root(), [] { return int64_t{0}; });
  OverheadReading reading = meter.Read();
  EXPECT_EQ(reading.virtual_bytes, 1000 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reading.resident_bytes, 200 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reading.private_bytes, 150 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reading.open_fds, 3);
  EXPECT_DOUBLE_EQ(reading.start_time_seconds,
                   1700000000.0 + 5000.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

TEST(OverheadMeter, SeesThisProcess) {
  OverheadMeter meter;
  NamedThread busy("capture", [](std::stop_token stop, WakeFd&) {
    volatile uint64_t sink = 0;
    while (!stop.stop_requested()) sink = sink + 1;
  });
  OverheadReading reading;
  int64_t until = ProcessCpuNs() + 10'000 * kMs;  // CPU time: a bound, not a wait
  do {
    reading = meter.Read();
  } while (Cpu(reading, "capture") < 20 * kMs && ProcessCpuNs() < until);
  EXPECT_GE(Cpu(reading, "capture"), 20 * kMs);
  EXPECT_LE(Cpu(reading, "capture"), reading.process_cpu_ns);
  EXPECT_GT(reading.resident_bytes, 1 << 20);
  EXPECT_GT(reading.open_fds, 2);
  double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(reading.start_time_seconds, now, 300.0);
}

}  // namespace
}  // namespace firetower::daemon
