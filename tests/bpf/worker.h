// SPDX-License-Identifier: Apache-2.0
// Threads of a test, and how long they ran and waited by their own account and the kernel's.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"

namespace firetower::testing {

inline uint32_t OwnTid() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

// The kernel's account of a thread: time on a CPU, and time waiting for one.
struct Schedstat {
  double cpu_ns = 0;
  double delay_ns = 0;
};
inline Schedstat ReadSchedstat() {
  std::ifstream file("/proc/thread-self/schedstat");
  double as_of_last_tick = 0;
  Schedstat read;
  file >> as_of_last_tick >> read.delay_ns;
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  read.cpu_ns = static_cast<double>(now.tv_sec) * kNsPerSecond + static_cast<double>(now.tv_nsec);
  return read;
}

// A thread's time between two moments, by its own account.
struct Account {
  uint32_t tid = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  double wall_ns = 0;
  double cpu_ns = 0;
  double delay_ns = 0;
  double waited_ns() const { return wall_ns - cpu_ns - delay_ns; }
};

// Runs `work` on a thread of its own, and says what that took.
class Worker {
 public:
  explicit Worker(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          account_.tid = OwnTid();
          const Schedstat before = ReadSchedstat();
          account_.begin_ns = Clock::System().MonotonicNs();
          work();
          const Schedstat after = ReadSchedstat();
          account_.end_ns = Clock::System().MonotonicNs();
          account_.wall_ns = static_cast<double>(account_.end_ns - account_.begin_ns);
          account_.cpu_ns = after.cpu_ns - before.cpu_ns;
          account_.delay_ns = after.delay_ns - before.delay_ns;
        }) {}
  const Account& Join() {
    if (thread_.joinable()) thread_.join();
    return account_;
  }

 private:
  Account account_;
  std::thread thread_;
};

}  // namespace firetower::testing
