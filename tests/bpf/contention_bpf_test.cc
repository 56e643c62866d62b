// SPDX-License-Identifier: Apache-2.0
// Waits for locks of the kernel's on the running kernel: one thread has the lock of this process's
// address space most of the time, and another needs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "daemon/capture/families/wait_programs.h"
#include "daemon/health/kernel_version.h"
#include "daemon/pipeline/futex_use.h"
#include "tests/bpf/loaded_sampler.h"
#include "tests/bpf/worker.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::Account;
using ::firetower::testing::Worker;

constexpr size_t kBytes = 64u << 20;

// Every wait of this process that is told, for a lock or not. Its memory is there from the start:
// to ask for more, while others wait for the lock of the address space, needs that lock.
class AllWaits : public BpfSampler::Sink {
 public:
  AllWaits() {
    waits.resize(kMostWaits);
    waits.clear();
  }
  void OnRecord(std::span<const std::byte> record) noexcept override {
    ft_wait wait;
    if (static_cast<uint8_t>(record[offsetof(ft_sample, kind)]) != FT_KIND_WAIT) return;
    std::memcpy(&wait, record.data(), sizeof(wait));
    if (wait.sample.tgid != static_cast<uint32_t>(::getpid())) return;
    ASSERT_LT(waits.size(), kMostWaits);
    waits.push_back(wait);
  }
  static constexpr size_t kMostWaits = 100'000;
  std::vector<ft_wait> waits;
};

// It is held while memory is mapped, filled and given back.
void Maps(const std::atomic<bool>& ended) {
  ::pthread_setname_np(::pthread_self(), "maps");
  while (!ended) {
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory != MAP_FAILED) ::munmap(memory, kBytes);
  }
}

// Needs it to change one page, each time.
void Protects(int64_t until_ns) {
  void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int turn = 0; Clock::System().MonotonicNs() < until_ns; ++turn)
    ::mprotect(page, 4096, turn % 2 == 0 ? PROT_NONE : PROT_READ);
  ::munmap(page, 4096);
}

// How long a hypervisor kept CPUs of this machine from it, all of them together. A thread's own
// account takes that for waiting: it was neither on a CPU nor queued for one.
double StolenNs() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return steal * kNsPerSecond / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// An older kernel says that it does not tell them.
TEST(ContentionBpf, WaitsForALockOfTheKernelHaveWhoHadIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  auto sampler = testing::LoadSampler();
  ASSERT_TRUE(sampler) << sampler.error().message();
  ft_verdicts verdicts{};
  for (ft_verdict& verdict : verdicts.of) verdict.kind = verdict.child = FT_VERDICT_NO;
  for (const int type : {FT_TYPE_LOCK, FT_TYPE_OFFCPU})
    verdicts.of[type] = {FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL, 0};
  (*sampler)->SetFallback(verdicts);
  auto programs = WaitPrograms::Load(**sampler, {.walks_per_second = 100'000});
  ASSERT_TRUE(programs) << programs.error().message();
  ASSERT_TRUE((*programs)->Attach());
  const Status told = (*programs)->TellKernelLocks(true);
  const auto version = UpstreamVersion(ReadKernelIdentity("/proc"));
  ASSERT_TRUE(version);
  if (*version < KernelVersion{5, 19, 0}) {
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code(), ErrorCode::kUnsupported);
    EXPECT_THAT(told.error().message(), ::testing::HasSubstr("from Linux 5.19 on"));
    return;
  }
  ASSERT_TRUE(told) << told.error().message();

  std::atomic<bool> ended{false};
  const double stolen_before_ns = StolenNs();
  std::atomic<bool> waited{false};
  AllWaits told_of;
  Worker holder([&] { Maps(ended); });
  Worker waiter([&] {
    Protects(Clock::System().MonotonicNs() + 2 * kNsPerSecond);
    waited = true;
  });
  // The ring has the waits of the whole machine: left for two seconds it may be full, and a wait
  // for which there is no room is told by none.
  while (!waited) {
    (*sampler)->Drain(told_of);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const Account account = waiter.Join();
  const double stolen_ns = StolenNs() - stolen_before_ns;
  ended = true;
  const uint32_t holder_tid = holder.Join().tid;
  (*programs)->Detach();
  (*sampler)->Drain(told_of);
  const WaitCounters counters = (*programs)->Counters();

  double waited_ns = 0, for_holder_ns = 0, else_ns = 0, off_ns = 0;
  for (const ft_wait& wait : told_of.waits) {
    // The last one may be munmap's.
    if (wait.sample.tid != account.tid || static_cast<int64_t>(wait.begin_ns) < account.begin_ns ||
        static_cast<int64_t>(wait.sample.time_ns) > account.end_ns)
      continue;
    off_ns += static_cast<double>(wait.total_ns);
    const auto ns = static_cast<double>(wait.total_ns - wait.total_runqueue_ns);
    if ((wait.types >> FT_TYPE_LOCK & 1) == 0) {
      else_ns += ns;
      continue;
    }
    EXPECT_NE(wait.futex.op & FT_FUTEX_KERNEL, 0u);
    const FutexUse use = UseOf(wait.futex);
    EXPECT_TRUE(use == FutexUse::kKernelWrite || use == FutexUse::kKernelRead);
    waited_ns += ns;
    if (wait.waker_tid == holder_tid) for_holder_ns += ns;
  }
  std::printf(
      "%.3f s of waits for it told, %.3f for the holder, %.3f for no lock; %.3f off the CPU "
      "told of %.3f, %.3f stolen\n",
      waited_ns / 1e9, for_holder_ns / 1e9, else_ns / 1e9, off_ns / 1e9,
      (account.wall_ns - account.cpu_ns) / 1e9, stolen_ns / 1e9);
  ASSERT_EQ(counters.value[FT_OFFCPU_WAIT_RING_FULL], 0u)
      << "waits of the machine had no room in the ring";
  ASSERT_GT(account.waited_ns(), 0.05 * account.wall_ns) << "there was no contention";
  // All of the time off the CPU is told. How much of it was for a CPU the kernel's account says
  // less of: it counts from when another CPU has queued the thread, which on a busy machine comes
  // late, and not from when it was woken.
  const double off_truth_ns = account.wall_ns - account.cpu_ns - stolen_ns;
  EXPECT_GE(off_ns, 0.95 * off_truth_ns);
  EXPECT_LE(off_ns, 1.05 * (off_truth_ns + stolen_ns));
  EXPECT_LE(else_ns, 0.2 * waited_ns);
  EXPECT_LE(waited_ns, account.wall_ns);
  EXPECT_GT(for_holder_ns, 0.9 * waited_ns);
}

}  // namespace
}  // namespace firetower::daemon
