// SPDX-License-Identifier: Apache-2.0
// The off-CPU programs on the running kernel: waits of threads of this process, beside what the
// threads and the kernel's own accounting (/proc/PID/task/TID/schedstat and its CPU clock) say of
// them.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/families/wait_programs.h"
#include "tests/bpf/loaded_sampler.h"
#include "tests/bpf/worker.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::Account;
using ::firetower::testing::OwnTid;
using ::firetower::testing::Worker;

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(set), &set), 0);
}
std::vector<int> Cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// Waits by thread, with those that they stand for.
struct Sums {
  double blocked_ns = 0;
  double runqueue_ns = 0;
  double waits = 0;
  std::map<int, double> by_state;
  std::map<std::string, double> by_waker;
};

class Waits : public BpfSampler::Sink {
 public:
  void OnRecord(std::span<const std::byte> record) noexcept override {
    ft_wait wait;
    if (static_cast<uint8_t>(record[offsetof(ft_sample, kind)]) != FT_KIND_WAIT) return;
    ASSERT_GE(record.size(), sizeof(wait));
    std::memcpy(&wait, record.data(), sizeof(wait));
    of_[wait.sample.tid].push_back(wait);
  }

  std::vector<ft_wait> RecordsOf(uint32_t tid) const {
    const auto found = of_.find(tid);
    return found == of_.end() ? std::vector<ft_wait>() : found->second;
  }

  // Adds up the waits of a thread, as far as they lie within its account.
  Sums Of(const Account& account) const {
    Sums sums;
    const auto found = of_.find(account.tid);
    if (found == of_.end()) return sums;
    for (const ft_wait& wait : found->second) {
      const auto begin = std::max(static_cast<int64_t>(wait.begin_ns), account.begin_ns);
      const auto end = std::min(static_cast<int64_t>(wait.sample.time_ns), account.end_ns);
      if (begin >= end) continue;
      const double part = static_cast<double>(end - begin) / static_cast<double>(wait.sample.value);
      const double total = part * static_cast<double>(wait.total_ns);
      const double runqueue = part * static_cast<double>(wait.total_runqueue_ns);
      sums.blocked_ns += total - runqueue;
      sums.runqueue_ns += runqueue;
      sums.waits += static_cast<double>(wait.waits);
      sums.by_state[wait.state] += total;
      sums.by_waker[reinterpret_cast<const char*>(wait.waker_comm)] +=
          static_cast<double>(wait.waits);
    }
    return sums;
  }

 private:
  std::map<uint32_t, std::vector<ft_wait>> of_;
};

class OffCpuBpf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "no schedstat";
    if (!sampler_) {
      auto sampler = testing::LoadSampler();
      ASSERT_TRUE(sampler) << sampler.error().message();
      sampler_ = *std::move(sampler);
    }
    SetShortest(0);
  }
  static void TearDownTestSuite() {
    every_wait_.reset();
    sampler_.reset();
  }

  // Every wait of at least that length is wanted, and no CPU time.
  void SetShortest(uint64_t wait_ns) {
    ft_verdicts verdicts{};
    verdicts.of[FT_TYPE_CPU].kind = verdicts.of[FT_TYPE_CPU].child = FT_VERDICT_NO;
    verdicts.of[FT_TYPE_OFFCPU] = {FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL, wait_ns};
    sampler_->SetFallback(verdicts);
  }

  // No wait of this machine's other threads is in the way of ours.
  static constexpr WaitOptions kEveryWait = {.walks_per_second = 100'000};

  // Loads programs, which takes seconds where the machine is emulated: those of most tests once.
  WaitPrograms* Load(const WaitOptions& options, std::unique_ptr<WaitPrograms>& own) {
    const bool shared = options.walks_per_second == kEveryWait.walks_per_second &&
                        options.max_waiting == kEveryWait.max_waiting;
    if (shared && every_wait_) return every_wait_.get();
    auto programs = WaitPrograms::Load(*sampler_, options);
    EXPECT_TRUE(programs) << programs.error().message();
    if (!programs) return nullptr;
    std::unique_ptr<WaitPrograms>& keeper = shared ? every_wait_ : own;
    keeper = *std::move(programs);
    return keeper.get();
  }

  // Runs `work` while waits are told.
  Waits During(const std::function<void()>& work, const WaitOptions& options = kEveryWait) {
    Waits waits;
    std::unique_ptr<WaitPrograms> own;
    WaitPrograms* const programs = Load(options, own);
    if (programs == nullptr) return waits;
    Status attached = programs->Attach();
    EXPECT_TRUE(attached) << attached.error().message();
    std::atomic<bool> ended{false};
    std::thread reader([&] {
      while (!ended) {
        sampler_->Drain(waits);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    const int64_t begin = Clock::System().MonotonicNs();
    work();
    seconds_ = static_cast<double>(Clock::System().MonotonicNs() - begin) / kNsPerSecond;
    programs->Detach();
    ended = true;
    reader.join();
    sampler_->Drain(waits);
    counters_ = programs->Counters();
    going_on_ = programs->WaitsThatGoOn();
    return waits;
  }

  void ExpectNothingLost() const {
    EXPECT_EQ(counters_.value[FT_OFFCPU_TABLE_FULL], 0u);
    EXPECT_EQ(counters_.value[FT_OFFCPU_WAIT_RING_FULL], 0u);
  }

  static std::unique_ptr<BpfSampler> sampler_;
  static std::unique_ptr<WaitPrograms> every_wait_;
  WaitCounters counters_;
  std::vector<WaitingThread> going_on_;
  double seconds_ = 0;
};

std::unique_ptr<BpfSampler> OffCpuBpf::sampler_;
std::unique_ptr<WaitPrograms> OffCpuBpf::every_wait_;

void ExpectNear(double got, double truth, double share, const char* what) {
  EXPECT_NEAR(got / truth, 1, share) << what << ": " << got / 1e6 << " ms of " << truth / 1e6;
}

// Nanoseconds by the caller's own watch.
template <typename Work>
double Timed(const Work& work) {
  const int64_t begin = Clock::System().MonotonicNs();
  work();
  return static_cast<double>(Clock::System().MonotonicNs() - begin);
}

// A wait is at least as long as its cause was, and at most what the thread saw itself: the two
// differ where an emulated CPU stands still.
void ExpectBetween(double got_ns, double at_least_ns, double at_most_ns) {
  EXPECT_GE(got_ns, 0.97 * at_least_ns);
  EXPECT_LE(got_ns, 1.03 * at_most_ns);
}

TEST_F(OffCpuBpf, ASleepIsAsLongAsItWas) {
  double slept_ns = 0;
  Account account;
  const Waits waits = During([&] {
    Worker worker([&] {
      for (int i = 0; i < 50; ++i)
        slept_ns += Timed([] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
    });
    account = worker.Join();
  });
  Sums sums = waits.Of(account);
  ExpectBetween(sums.by_state[FT_WAIT_SLEEPING], 50 * 10e6, slept_ns);
  EXPECT_NEAR(sums.waits, 50, 3);
  ExpectNothingLost();
}

TEST_F(OffCpuBpf, AReaderOfAPipeWaitsForWhoWrites) {
  double waited_ns = 0;
  Account account;
  const Waits waits = During([&] {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    Worker reader([&] {
      char byte = 0;
      ssize_t got = 1;
      while (got == 1) waited_ns += Timed([&] { got = ::read(ends[0], &byte, 1); });
    });
    Worker writer([&] {
      ASSERT_EQ(::pthread_setname_np(::pthread_self(), "pipe-writer"), 0);
      for (int i = 0; i < 100; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        ASSERT_EQ(::write(ends[1], "x", 1), 1);
      }
      ::close(ends[1]);
    });
    writer.Join();
    account = reader.Join();
    ::close(ends[0]);
  });
  Sums sums = waits.Of(account);
  ExpectBetween(sums.by_state[FT_WAIT_SLEEPING], 100 * 3e6, waited_ns);
  EXPECT_GE(sums.by_waker["pipe-writer"], 0.95 * sums.waits);
  ExpectNothingLost();
}

TEST_F(OffCpuBpf, WhoIsPreemptedWaitsForACpuAndForNothingElse) {
  Account account;
  const int cpu = Cpus().front();
  const Waits waits = During([&] {
    std::atomic<bool> ended{false};
    auto burn = [&] {
      PinTo(cpu);
      const int64_t end = Clock::System().MonotonicNs() + kNsPerSecond;
      while (Clock::System().MonotonicNs() < end && !ended) {
      }
    };
    Worker hog(burn);
    Worker victim(burn);
    account = victim.Join();
    hog.Join();
  });
  const Sums sums = waits.Of(account);
  EXPECT_GT(account.delay_ns, 0.2 * account.wall_ns);
  ExpectNear(sums.runqueue_ns, account.delay_ns, 0.03, "in the run queue");
  EXPECT_LT(sums.blocked_ns, 0.02 * account.wall_ns);
  ExpectNothingLost();
}

TEST_F(OffCpuBpf, AWaitIsWholeAlsoIfItEndsOnAnotherCpu) {
  const std::vector<int> cpus = Cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU only";
  double slept_ns = 0;
  Account account;
  const Waits waits = During([&] {
    std::atomic<uint32_t> tid{0};
    std::atomic<bool> ended{false};
    Worker sleeper([&] {
      tid = OwnTid();
      for (int i = 0; i < 100; ++i) {
        slept_ns += Timed([] { std::this_thread::sleep_for(std::chrono::milliseconds(4)); });
      }
      ended = true;
    });
    // It is moved while it sleeps.
    for (size_t turn = 0; !ended; ++turn) {
      if (tid == 0) continue;
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cpus[turn % 2], &set);
      ::sched_setaffinity(static_cast<pid_t>(tid.load()), sizeof(set), &set);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    account = sleeper.Join();
  });
  Sums sums = waits.Of(account);
  ExpectBetween(sums.by_state[FT_WAIT_SLEEPING], 100 * 4e6, slept_ns);
  ExpectNothingLost();
}

TEST_F(OffCpuBpf, WaitsBelowTheLimitAreNotTold) {
  constexpr int64_t kLimitNs = 6'000'000;
  SetShortest(kLimitNs);
  Account account;
  int overslept = 0;  // a machine that others use wakes nobody in time
  const Waits waits = During(
      [&] {
        Worker worker([&] {
          for (int i = 0; i < 50; ++i) {
            const auto brief_ns =
                Timed([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
            if (brief_ns >= kLimitNs) ++overslept;
            std::this_thread::sleep_for(std::chrono::milliseconds(8));
          }
        });
        account = worker.Join();
      },
      kEveryWait);
  EXPECT_GE(waits.Of(account).waits, 48);
  EXPECT_LE(waits.Of(account).waits, 52 + overslept);
  EXPECT_GE(static_cast<int64_t>(counters_.value[FT_OFFCPU_SHORT]), 45 - overslept);
}

TEST_F(OffCpuBpf, AWaitThatGoesOnIsListed) {
  std::atomic<uint32_t> tid{0};
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread blocked;
  const Waits waits = During([&] {
    blocked = std::thread([&] {
      tid = OwnTid();
      char byte = 0;
      EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  const int64_t now = Clock::System().MonotonicNs();
  int found = 0;
  for (const WaitingThread& one : going_on_) {
    if (one.tid != tid) continue;
    ++found;
    EXPECT_GT(now - static_cast<int64_t>(one.wait.begin_ns), 200'000'000);
    EXPECT_EQ(one.wait.state, FT_WAIT_SLEEPING);
    EXPECT_EQ(one.wait.wake_ns, 0u);
  }
  EXPECT_EQ(found, 1);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  blocked.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

// A policy may go and come again. What a thread does meanwhile nobody sees, so nothing is said of
// it.
TEST_F(OffCpuBpf, NothingIsToldOfTheTimeWithoutPrograms) {
  std::atomic<uint32_t> tid{0};
  std::atomic<bool> again{false};
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread blocked;
  During([&] {
    blocked = std::thread([&] {
      tid = OwnTid();
      char byte = 0;
      EXPECT_EQ(::read(ends[0], &byte, 1), 1);
      while (!again) {
      }
      for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin_ns = static_cast<uint64_t>(Clock::System().MonotonicNs());
  const Waits waits = During([&] {
    again = true;
    blocked.join();
  });
  uint64_t told_ns = 0;
  for (const ft_wait& wait : waits.RecordsOf(tid)) {
    EXPECT_GT(wait.begin_ns, begin_ns);
    told_ns += wait.total_ns;
  }
  ExpectBetween(static_cast<double>(told_ns), 18 * 5e6, seconds_ * 1e9);
  for (const WaitingThread& one : going_on_) EXPECT_GT(one.wait.begin_ns, begin_ns);
  ::close(ends[0]);
  ::close(ends[1]);
}

// Two threads that wake each other by a futex, as fast as they can.
class PingPong {
 public:
  explicit PingPong(int cpu, std::chrono::milliseconds long_for)
      : first_([this, cpu, long_for] { Play(0, cpu, long_for); }),
        second_([this, cpu, long_for] { Play(1, cpu, long_for); }) {}
  std::vector<Account> Join() { return {first_.Join(), second_.Join()}; }

 private:
  void Play(uint32_t self, int cpu, std::chrono::milliseconds long_for) {
    PinTo(cpu);
    const auto end = std::chrono::steady_clock::now() + long_for;
    while (!over_) {
      while (turn_ % 2 != self && !over_) {
        const uint32_t seen = turn_;
        if (seen % 2 == self) break;
        ::syscall(SYS_futex, &turn_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      }
      if (std::chrono::steady_clock::now() > end) over_ = true;
      ++turn_;
      ::syscall(SYS_futex, &turn_, FUTEX_WAKE_PRIVATE, 2, nullptr, nullptr, 0);
    }
  }
  std::atomic<uint32_t> turn_{0};
  std::atomic<bool> over_{false};
  Worker first_;
  Worker second_;
};

TEST_F(OffCpuBpf, AStormIsThinnedAndItsSumsStayTrue) {
  const std::vector<int> cpus = Cpus();
  std::vector<Account> accounts;
  const Waits waits = During(
      [&] {
        PingPong storm(cpus.front(), std::chrono::milliseconds(3000));
        accounts = storm.Join();
      },
      {.walks_per_second = 1000});
  double got = 0, truth = 0;
  for (const Account& account : accounts) {
    const Sums sums = waits.Of(account);
    got += sums.blocked_ns + sums.runqueue_ns;
    truth += account.waited_ns() + account.delay_ns;
  }
  const auto a_second = [&](uint64_t count) { return static_cast<double>(count) / seconds_; };
  std::printf(
      "%.0f switches and %.0f walks a second, off-CPU %.4f of the truth, %.0f ns a switch\n",
      a_second(counters_.value[FT_OFFCPU_SWITCHES]), a_second(counters_.value[FT_OFFCPU_WALKS]),
      got / truth,
      static_cast<double>(counters_.counters.value[FT_COUNT_RUN_NS]) /
          static_cast<double>(counters_.counters.value[FT_COUNT_RUNS]));
  ExpectNear(got, truth, 0.05, "off the CPU");
  EXPECT_LT(a_second(counters_.value[FT_OFFCPU_WALKS]),
            1000.0 * static_cast<double>(cpus.size()) + 500);
  ExpectNothingLost();
}

}  // namespace
}  // namespace firetower::daemon
