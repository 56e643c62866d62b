// SPDX-License-Identifier: Apache-2.0
// The programs of events on the running kernel: events that threads of this process cause in known
// numbers.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/events/event_names.h"
#include "daemon/capture/events/event_programs.h"
#include "tests/bpf/loaded_sampler.h"

namespace firetower::daemon {
namespace {

constexpr size_t kPage = 4096, kPages = 512;
constexpr uint32_t kSlot = 2;

uint32_t OwnTid() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

// Events and samples by thread.
class Events : public BpfSampler::Sink {
 public:
  struct Sum {
    uint64_t events = 0;
    uint64_t samples = 0;
    uint64_t deep = 0;  // samples whose stack came and has frames of user space
  };
  void OnRecord(std::span<const std::byte> record) noexcept override {
    const auto kind = static_cast<uint8_t>(record[offsetof(ft_sample, kind)]);
    if (kind == FT_KIND_STACK) {
      ft_stack stack;
      std::memcpy(&stack, record.data(), sizeof(stack));
      frames_[stack.stack_hash] = stack.user_frames;
    }
    if (kind != FT_KIND_SAMPLE && kind != FT_KIND_COLD) return;
    ft_sample sample;
    std::memcpy(&sample, record.data(), sizeof(sample));
    EXPECT_EQ(sample.type, FT_TYPE_EVENT + kSlot);
    Sum& sum = of_[sample.tid];
    sum.events += sample.value;
    ++sum.samples;
    if (frames_[sample.stack_hash] > 0) ++sum.deep;
  }
  Sum Of(uint32_t tid) { return of_[tid]; }

 private:
  std::map<uint32_t, Sum> of_;
  std::map<uint64_t, uint32_t> frames_;
};

class EventBpf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    // Loading takes seconds where the machine is emulated.
    if (!sampler_) {
      auto sampler = testing::LoadSampler();
      ASSERT_TRUE(sampler) << sampler.error().message();
      sampler_ = *std::move(sampler);
    }
    ft_verdicts verdicts{};
    for (ft_verdict& verdict : verdicts.of) verdict.kind = verdict.child = FT_VERDICT_NO;
    verdicts.of[FT_TYPE_EVENT + kSlot] = {FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL, 0};
    sampler_->SetFallback(verdicts);
  }

  static void TearDownTestSuite() { sampler_.reset(); }

  // Runs `work` on a thread while the event is sampled, and returns what was told of that thread.
  Events::Sum During(const std::string& name, const EventRate& rate,
                     const std::function<void()>& work) {
    Events events;
    uint32_t tid = 0;
    const Result<EventSource> source = ResolveEvent(name, "/sys");
    EXPECT_TRUE(source);
    auto programs = EventPrograms::Load(*sampler_, kSlot, *source);
    EXPECT_TRUE(programs) << programs.error().message();
    if (!programs) return {};
    std::vector<int> cpus;
    for (int cpu = 0; cpu < static_cast<int>(std::thread::hardware_concurrency()); ++cpu)
      cpus.push_back(cpu);
    const Status attached = (*programs)->Attach(cpus, rate, Clock::System().MonotonicNs());
    EXPECT_TRUE(attached) << attached.error().message();
    std::thread worker([&] {
      tid = OwnTid();
      work();
    });
    worker.join();
    (*programs)->Detach();
    sampler_->Drain(events);
    counters_ = (*programs)->Counters();
    EXPECT_EQ(counters_.counters.value[FT_COUNT_RING_FULL], 0u);
    EXPECT_GT((*programs)->MapBytes(), 0u);
    return events.Of(tid);
  }

  // Causes page faults, and returns the kernel's count of them.
  static double Touch(int times) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < times; ++i) {
      void* memory = ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ::madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
      for (size_t page = 0; page < kPages; ++page)
        static_cast<volatile char*>(memory)[page * kPage] = 1;
      ::munmap(memory, kPages * kPage);
    }
    ::getrusage(RUSAGE_THREAD, &after);
    return static_cast<double>(after.ru_minflt - before.ru_minflt);
  }

  static std::unique_ptr<BpfSampler> sampler_;
  EventCounters counters_;
};

std::unique_ptr<BpfSampler> EventBpf::sampler_;

TEST_F(EventBpf, APeriodTakesEachNthEvent) {
  double faults = 0;
  const Events::Sum sum =
      During("page-faults", {.hertz = 0, .period = 16}, [&] { faults = Touch(40); });
  EXPECT_NEAR(static_cast<double>(sum.events), faults, 0.02 * faults + 64);
  EXPECT_NEAR(static_cast<double>(sum.samples), faults / 16, 0.02 * faults / 16 + 8);
  EXPECT_GT(sum.deep, sum.samples * 9 / 10);
}

TEST_F(EventBpf, AFrequencyLosesNoEvent) {
  double faults = 0;
  const Events::Sum sum =
      During("page-faults", {.hertz = 200, .period = 0}, [&] { faults = Touch(400); });
  // At its end up to one sample's worth is untold, and others on its CPU have a share.
  EXPECT_NEAR(static_cast<double>(sum.events), faults, 0.1 * faults);
  EXPECT_LT(static_cast<double>(sum.samples), faults / 20) << "the frequency holds";
}

TEST_F(EventBpf, ATracepointTakesEachNthOccurrence) {
  constexpr uint64_t kCalls = 20'000;
  const Events::Sum sum = During("syscalls:sys_enter_getppid", {.hertz = 0, .period = 100}, [] {
    for (uint64_t i = 0; i < kCalls; ++i) ::syscall(SYS_getppid);
  });
  EXPECT_NEAR(static_cast<double>(sum.events), double{kCalls}, 200) << "and no other system call";
  EXPECT_NEAR(static_cast<double>(sum.samples), double{kCalls} / 100, 2);
  EXPECT_GT(sum.deep, sum.samples * 9 / 10);
}

TEST_F(EventBpf, ATracepointKeepsAFrequency) {
  constexpr uint64_t kCalls = 200'000;
  const Events::Sum sum = During("syscalls:sys_exit_getppid", {.hertz = 200, .period = 0}, [] {
    for (uint64_t i = 0; i < kCalls; ++i) ::syscall(SYS_getppid);
  });
  EXPECT_NEAR(static_cast<double>(sum.events), double{kCalls}, 0.15 * kCalls);
  EXPECT_LT(sum.samples, kCalls / 20);
}

TEST_F(EventBpf, ATracepointWithinItsOwnSampleIsCounted) {
  // The scheduler's, from where interrupts come too.
  const Events::Sum sum = During("sched:sched_waking", {.hertz = 0, .period = 1}, [] {
    std::thread other([] { ::usleep(1000); });
    other.join();
    ::usleep(1000);
  });
  EXPECT_GE(sum.samples, 1u) << "it woke the other thread";
  EXPECT_GE(sum.events, sum.samples);
  EXPECT_LE(sum.events, sum.samples + counters_.missed);
}

TEST_F(EventBpf, UnknownTracepointsAreRefused) {
  const Result<EventSource> source = ResolveEvent("sched:nothing_of_the_kind", "/sys");
  ASSERT_TRUE(source);
  auto programs = EventPrograms::Load(*sampler_, kSlot, *source);
  ASSERT_TRUE(programs) << programs.error().message();
  const Status attached = (*programs)->Attach({}, {.hertz = 0, .period = 1}, 0);
  ASSERT_FALSE(attached);
  EXPECT_NE(attached.error().message().find("nothing_of_the_kind"), std::string::npos);
}

}  // namespace
}  // namespace firetower::daemon
