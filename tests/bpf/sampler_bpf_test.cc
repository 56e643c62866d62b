// SPDX-License-Identifier: Apache-2.0
// The kernel side on the running kernel: what it samples of this very process.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/capture.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/unwind/load_table.h"
#include "daemon/unwind/module_file.h"
#include "daemon/unwind/unwinder.h"
#include "tests/bpf/known_frames.h"

namespace firetower::daemon {
namespace {

// Tables read at once, where a daemon has a thread for it; or none, so that frame pointers decide.
class Tables : public TableRequests {
 public:
  explicit Tables(bool read) : read_(read) {}
  bool WantTable(uint32_t module_id, const std::shared_ptr<const Module>& module,
                 const Process& process, const ProcessMapping& mapping) override {
    LoadedTable& loaded = ready.emplace_back();
    loaded.module = module_id;
    loaded.outcome = LoadedTable::Outcome::kNone;
    if (!read_) return true;
    auto source = OpenModuleFile("/proc", MappedModule(module, process, mapping));
    if (!source) return true;
    auto table = LoadUnwindTable(*source);
    if (!table || table->empty()) return true;
    loaded.outcome = LoadedTable::Outcome::kTable;
    loaded.table = *std::move(table);
    return true;
  }
  std::vector<LoadedTable> ready;

 private:
  bool read_;
};

// CPU time of this thread.
int64_t OwnCpuNs() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

struct Collected {
  std::map<uint64_t, std::vector<uint64_t>> user_stacks;  // by hash
  std::map<uint64_t, std::vector<uint64_t>> kernel_stacks;
  std::vector<ft_sample> samples;
  std::vector<std::pair<CgroupEvent, std::string>> cgroups;
  std::vector<SidebandEvent> sideband;
  // The cold stacks by the index of their sample.
  std::map<size_t, std::pair<ColdStack, std::vector<std::byte>>> cold;
};

void Collect(Round& round, Collected& out) {
  for (uint32_t begin : round.body_begins) {
    ft_stack head;
    std::memcpy(&head, round.bodies.data() + begin, sizeof(head));
    auto first = round.bodies.begin() + begin + 6;
    out.kernel_stacks[head.stack_hash].assign(first, first + head.kernel_frames);
    out.user_stacks[head.stack_hash].assign(first + head.kernel_frames,
                                            first + head.kernel_frames + head.user_frames);
  }
  for (const ft_sample& sample : round.samples) {
    if (sample.kind == FT_KIND_COLD) {
      const ColdStack& stack = round.cold.at(sample.cold);
      auto bytes = round.Stack(stack);
      out.cold[out.samples.size()] = {stack, {bytes.begin(), bytes.end()}};
    }
    out.samples.push_back(sample);
  }
  out.sideband.insert(out.sideband.end(), round.sideband.begin(), round.sideband.end());
  for (const CgroupEvent& event : round.cgroup_events) {
    out.cgroups.emplace_back(event, round.Text(event.text_begin, event.text_size));
  }
}

class SamplerBpf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    auto hierarchy = ChooseHierarchy("v2", *ReadFile("/proc/self/mountinfo"),
                                     *ReadFile("/proc/self/cgroup"), "/sys/fs/cgroup");
    ASSERT_TRUE(hierarchy) << hierarchy.error().message();
    cgroup_root_ = hierarchy->mount;
    SamplerOptions options;
    options.hierarchy = *hierarchy;
    options.frequency_hz = 997;
    auto sampler = BpfSampler::Load(options);
    ASSERT_TRUE(sampler) << sampler.error().message();
    sampler_ = *std::move(sampler);
    SetFallback({FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL, 1'000'000'000 / 997});
    capture_ = *Capture::Create(*sampler_, CaptureOptions{}, Clock::System(), [] {});
  }

  void SetFallback(const ft_verdict& verdict) { sampler_->SetFallback({{verdict}}); }

  // Runs `load` while everything is sampled, and tells the kernel side of this process as soon as a
  // sample tells us which it is.
  Collected During(const std::function<void()>& load, bool read_tables = false) {
    Collected out;
    EXPECT_TRUE(sampler_->AttachCgroups());
    Status opened = capture_->OpenSideband();
    EXPECT_TRUE(opened) << opened.error().message();
    Status started = capture_->Start();
    EXPECT_TRUE(started) << started.error().message();
    std::jthread pump([&] { Pump(out, read_tables); });
    load();
    capture_->Stop();
    pump.join();
    return out;
  }

  // Runs `work` until the kernel side has been told of this process, and then some more: reading
  // tables takes seconds under emulation. A minute is the limit.
  void UntilTold(const std::function<void()>& work) {
    int64_t end_ns = Clock::System().MonotonicNs() + 60 * kNsPerSecond;
    while (!told_ && Clock::System().MonotonicNs() < end_ns) work();
    for (int i = 0; i < 4; ++i) work();
  }

  void Pump(Collected& out, bool read_tables) {
    ModuleRegistry modules;
    ProcessTable processes(modules, ProcFs("/proc"), Clock::System());
    Tables tables(read_tables);
    Unwinder unwinder(sampler_->unwind_memory(), processes, modules, tables, Clock::System(), {});
    for (bool last = false; !last;) {
      auto round = capture_->TryPop();
      if (!round) {
        std::this_thread::yield();
        continue;
      }
      Collect(*round, out);
      for (uint32_t begin : round->body_begins) {
        ft_stack head;
        std::memcpy(&head, round->bodies.data() + begin, sizeof(head));
        if (head.tgid != static_cast<uint32_t>(getpid()) || head.stop != FT_STOP_COLD) continue;
        unwinder.Meet(processes.Get(head.tgid), ft_identity(head.start_ns, head.exec_id));
      }
      for (LoadedTable& table : std::exchange(tables.ready, {})) {
        unwinder.Take(std::move(table));
        told_ = true;
      }
      unwinder.EndRound();
      last = round->horizon_ns == std::numeric_limits<int64_t>::max();
      capture_->Recycle(std::move(round));
    }
  }

  std::atomic<bool> told_{false};
  std::unique_ptr<BpfSampler> sampler_;
  std::unique_ptr<Capture> capture_;
  std::string cgroup_root_;
};

// They are shorter than that, and lie side by side.
bool Within(uint64_t address, uint64_t (*function)(uint64_t)) {
  constexpr uint64_t kMostBytes = 128;
  const auto begin = reinterpret_cast<uint64_t>(function);
  for (auto* other : {known_leaf, known_middle, known_outer, bare_leaf, bare_middle, bare_outer}) {
    const auto next = reinterpret_cast<uint64_t>(other);
    if (next > begin && next <= address) return false;
  }
  return address > begin && address < begin + kMostBytes;
}

// Counts of this thread's samples in a leaf: all of them, and those with exactly the expected
// callers.
struct Exactness {
  int exact = 0;
  int total = 0;
  int cold = 0;
};

Exactness JudgeLeaf(Collected& got, uint64_t (*leaf)(uint64_t), uint64_t (*middle)(uint64_t),
                    uint64_t (*outer)(uint64_t)) {
  Exactness judged;
  for (const ft_sample& sample : got.samples) {
    if (sample.tid != static_cast<uint32_t>(gettid())) continue;
    const auto& pcs = got.user_stacks[sample.stack_hash];
    if (pcs.empty() || !Within(pcs[0], leaf)) continue;
    if (sample.stop == FT_STOP_COLD) {
      ++judged.cold;
      continue;
    }
    ++judged.total;
    judged.exact += pcs.size() > 3 && Within(pcs[1], middle) && Within(pcs[2], outer);
  }
  return judged;
}

TEST_F(SamplerBpf, WalksFramePointersExactly) {
  uint64_t rounds = 100'000'000;
  Collected got = During([&] { UntilTold([&] { EXPECT_NE(known_outer(rounds), 0u); }); });
  Exactness judged = JudgeLeaf(got, known_leaf, known_middle, known_outer);
  EXPECT_GT(judged.total, 50);
  // Between a function's first instruction and its frame the caller is invisible to frame pointers:
  // the leaf is entered once, so that at most a tick or two can fall there.
  EXPECT_GE(judged.exact, judged.total * 99 / 100 - 2);
  std::printf("%d of %d stacks exact, %d cold before, %u instructions verified\n", judged.exact,
              judged.total, judged.cold, sampler_->VerifiedInstructions());
}

TEST_F(SamplerBpf, WalksUnwindTablesExactlyToTheRoot) {
  uint64_t rounds = 100'000'000;
  Collected got = During([&] { UntilTold([&] { EXPECT_NE(bare_outer(rounds), 0u); }); }, true);
  Exactness judged = JudgeLeaf(got, bare_leaf, bare_middle, bare_outer);
  EXPECT_GT(judged.total, 50);
  EXPECT_EQ(judged.exact, judged.total);
  int whole = 0;
  int of = 0;
  for (const ft_sample& sample : got.samples) {
    if (sample.tid != static_cast<uint32_t>(gettid()) || sample.stop == FT_STOP_COLD) continue;
    ++of;
    whole += sample.stop == FT_STOP_ROOT;
  }
  EXPECT_GE(whole, of - 1);
  std::printf("%d of %d stacks exact, %d of %d to the root, %d cold before\n", judged.exact,
              judged.total, whole, of, judged.cold);
}

// A probe on the return of each call of a function of this process.
UniqueFd ProbeReturns(uint64_t (*function)(uint64_t)) {
  const auto type = ReadFile("/sys/bus/event_source/devices/uprobe/type");
  if (!type) return {};
  const auto address = reinterpret_cast<uint64_t>(function);
  const auto lines = ProcFs("/proc").Maps(static_cast<uint32_t>(getpid()));
  if (!lines) return {};
  const auto line = std::ranges::find_if(*lines, [&](const MapsLine& candidate) {
    return candidate.start <= address && address < candidate.end;
  });
  if (line == lines->end()) return {};
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = static_cast<uint32_t>(std::stoul(*type));
  attr.config = 1;  // /sys/bus/event_source/devices/uprobe/format/retprobe
  attr.uprobe_path = reinterpret_cast<uint64_t>("/proc/self/exe");
  attr.probe_offset = address - line->start + line->file_offset;
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

// The kernel has put a trampoline's address in the place of two return addresses, and both probes
// of the second function share one.
TEST_F(SamplerBpf, WalksThroughFunctionsWhoseReturnIsProbed) {
  std::vector<UniqueFd> probes;
  for (auto* function : {bare_leaf, bare_middle, bare_middle}) {
    probes.push_back(ProbeReturns(function));
    ASSERT_TRUE(probes.back()) << "uprobes: " << std::strerror(errno);
  }
  uint64_t rounds = 100'000'000;
  Collected got = During([&] { UntilTold([&] { EXPECT_NE(bare_outer(rounds), 0u); }); }, true);
  Exactness judged = JudgeLeaf(got, bare_leaf, bare_middle, bare_outer);
  EXPECT_GT(judged.total, 50);
  EXPECT_EQ(judged.exact, judged.total);
  for (const UniqueFd& probe : probes) {
    uint64_t calls = 0;
    ASSERT_EQ(::read(probe.get(), &calls, sizeof(calls)), static_cast<ssize_t>(sizeof(calls)));
    EXPECT_GT(calls, 0u);
  }
}

// known_outer() under so many bytes of a frame, full of `mark`.
[[gnu::noinline]] uint64_t UnderAFrame(size_t bytes, uint64_t mark, uint64_t rounds) {
  auto* frame = static_cast<volatile uint64_t*>(__builtin_alloca(bytes));
  const size_t words = bytes / sizeof(uint64_t);
  for (size_t i = 0; i < words; ++i) frame[i] = mark;
  return known_outer(rounds) + frame[rounds % words];
}

// How often the mark is at most in what a cold sample of this thread took of its stack.
size_t MostMarksInColdStacks(const Collected& got, uint64_t mark) {
  size_t most = 0;
  for (const auto& [place, cold] : got.cold) {
    const auto& bytes = cold.second;
    if (got.samples[place].tid != static_cast<uint32_t>(gettid())) continue;
    std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint64_t));
    most = std::max(most, static_cast<size_t>(std::ranges::count(words, mark)));
  }
  return most;
}

TEST_F(SamplerBpf, SendsTheStackOfAColdSampleAlsoIfItIsDeep) {
  constexpr uint64_t kMark = 0x5eedf12e70e12345;
  constexpr size_t kBytes = 40u << 10;
  Collected got = During([&] { EXPECT_NE(UnderAFrame(kBytes, kMark, 100'000'000), 0u); });
  // At this rate the ring fills: not each of them may be as large.
  EXPECT_GE(MostMarksInColdStacks(got, kMark), kBytes / sizeof(uint64_t));
}

class ColdDepth : public SamplerBpf, public ::testing::WithParamInterface<int> {};

// Whatever the depth, and wherever in its page the stack pointer is.
TEST_P(ColdDepth, AColdStackReachesTheProcessesFirstWord) {
  const size_t bytes = static_cast<size_t>(GetParam()) << 10;
  Collected got = During([&] { EXPECT_NE(UnderAFrame(bytes, 1, 200'000'000), 0u); });
  int reach = 0, of = 0;
  for (const auto& [place, cold] : got.cold) {
    const ColdStack& stack = cold.first;
    if (got.samples[place].tid != static_cast<uint32_t>(gettid())) continue;
    ++of;
    reach += ft_cold_begin(stack.sp) + stack.size > stack.stack_start;
  }
  EXPECT_GT(reach, 0) << "of " << of << ", beside "
                      << sampler_->Counters().value[FT_COUNT_COLD_LIMITED] << " above the limit";
}

INSTANTIATE_TEST_SUITE_P(KiB, ColdDepth, ::testing::Values(2, 4, 6, 8, 10, 12, 14, 16, 22, 28, 40));

TEST_F(SamplerBpf, ShowsKernelFramesAboveUserFramesOfASyscallLoop) {
  Collected got = During([&] {
    UniqueFd zero = *OpenReadOnly("/dev/zero");
    std::vector<char> buffer(1 << 20);
    // By the thread's own time: an emulated kernel reads many times slower.
    const int64_t end_ns = OwnCpuNs() + 400 * kNsPerMs;
    while (OwnCpuNs() < end_ns) ASSERT_GT(::read(zero.get(), buffer.data(), buffer.size()), 0);
  });
  int with_both = 0, in_kernel = 0;
  for (const ft_sample& sample : got.samples) {
    if (sample.tid != static_cast<uint32_t>(gettid())) continue;
    if (got.kernel_stacks[sample.stack_hash].size() < 3) continue;
    ++in_kernel;
    with_both += !got.user_stacks[sample.stack_hash].empty();
  }
  EXPECT_GT(in_kernel, 50);
  EXPECT_EQ(with_both, in_kernel);
}

TEST_F(SamplerBpf, SendsABodyOnceAndASampleForEachTick) {
  Collected got = During([&] { EXPECT_NE(known_outer(300'000'000), 0u); });
  ft_counters counters = sampler_->Counters();
  EXPECT_EQ(counters.value[FT_COUNT_SAMPLES], got.samples.size());
  EXPECT_LT(counters.value[FT_COUNT_STACKS], counters.value[FT_COUNT_SAMPLES]);
  EXPECT_EQ(counters.value[FT_COUNT_RING_FULL], 0u);
  EXPECT_GT(counters.value[FT_COUNT_RUN_NS], 0u);
}

TEST_F(SamplerBpf, TellsBirthAndDeathOfACgroupAndGatesTheNewborn) {
  std::string path = cgroup_root_ + "/firetower-test-" + std::to_string(getpid());
  Collected got = During([&] {
    ASSERT_TRUE(MakeDirectories(path));
    ASSERT_EQ(::rmdir(path.c_str()), 0);
  });
  std::vector<uint8_t> changes;
  for (auto& [event, name] : got.cgroups) {
    if (name == path.substr(cgroup_root_.size())) changes.push_back(event.change);
  }
  EXPECT_EQ(changes, (std::vector<uint8_t>{FT_CGROUP_MKDIR, FT_CGROUP_RMDIR}));
}

TEST_F(SamplerBpf, RefusesWhatAPolicyRefuses) {
  SetFallback({FT_VERDICT_NO, FT_VERDICT_NO, 0, 0, FT_KEEP_ALL, 1});
  Collected got = During([&] { EXPECT_NE(known_outer(100'000'000), 0u); });
  EXPECT_TRUE(got.samples.empty());
  EXPECT_GT(sampler_->Counters().value[FT_COUNT_REFUSED], 20u);
}

// Which image of this process runs, as the kernel side tells it with a stack.
class IdentityOfThis : public BpfSampler::Sink {
 public:
  void OnRecord(std::span<const std::byte> record) noexcept override {
    ft_stack head;
    if (record.size() < sizeof(head)) return;
    std::memcpy(&head, record.data(), sizeof(head));
    if (head.kind != FT_KIND_STACK || head.tgid != static_cast<uint32_t>(getpid())) return;
    identity = ft_identity(head.start_ns, head.exec_id);
  }
  std::optional<uint32_t> identity;
};

// The v2 cgroup that this process is in.
std::string OwnCgroup(const std::string& mount) {
  const std::string told = *ReadFile("/proc/self/cgroup");
  const size_t at = told.find("0::") + 3;
  return mount + told.substr(at, told.find('\n', at) - at);
}

// This process in a cgroup made for it, until it is let go.
class InCgroup {
 public:
  InCgroup(const std::string& mount, const std::string& name)
      : path_(mount + "/" + name), before_(OwnCgroup(mount)) {
    EXPECT_TRUE(MakeDirectories(path_));
    Join(path_);
    EXPECT_EQ(OwnCgroup(mount), path_);
  }
  InCgroup(const InCgroup&) = delete;
  InCgroup& operator=(const InCgroup&) = delete;
  ~InCgroup() {
    Join(before_);
    EXPECT_EQ(::rmdir(path_.c_str()), 0);
  }

 private:
  static void Join(const std::string& path) {
    std::ofstream(path + "/cgroup.procs") << getpid() << std::flush;
  }
  const std::string path_, before_;
};

TEST_F(SamplerBpf, LeavesOutTasksAndCpusThatAFilterDoesNotWant) {
  ft_verdict verdict{FT_VERDICT_YES, FT_VERDICT_YES, 1, 0, FT_KEEP_ALL, 1};
  SetFallback(verdict);
  sampler_->SetTasksVersion(3);
  const std::string online = *ReadFile("/sys/devices/system/cpu/online");
  const std::vector<int> cpus = ParseCpuList(online).value();
  for (int cpu : cpus) {
    Status attached = sampler_->AttachCpu(cpu);
    ASSERT_TRUE(attached) << attached.error().message();
  }
  // Returns the growth of the two counters in a spin, whose ticks are nearly all this thread's.
  auto spin = [&] {
    ft_counters before = sampler_->Counters();
    EXPECT_NE(known_outer(100'000'000), 0u);
    ft_counters after = sampler_->Counters();
    return std::pair(after.value[FT_COUNT_SAMPLES] - before.value[FT_COUNT_SAMPLES],
                     after.value[FT_COUNT_FILTERED] - before.value[FT_COUNT_FILTERED]);
  };
  IdentityOfThis sink;
  auto [undecided, none] = spin();
  EXPECT_GT(undecided, 20u) << "nobody has decided";
  EXPECT_EQ(none, 0u);
  sampler_->Drain(sink);
  ASSERT_TRUE(sink.identity);
  const auto tid = static_cast<uint32_t>(gettid());
  constexpr uint32_t kLeftOut = 1u << FT_TYPE_CPU;
  auto left_out = [&](ft_task task) {
    sampler_->SetTask(task);
    return spin().second;
  };
  EXPECT_GT(left_out({tid, *sink.identity, 3, kLeftOut, 0, 0, 0}), 20u);
  EXPECT_EQ(left_out({tid, *sink.identity, 3, 0, 0, 0, 0}), 0u);
  EXPECT_EQ(left_out({tid, *sink.identity + 1, 3, kLeftOut, 0, 0, 0}), 0u) << "another image";
  EXPECT_EQ(left_out({tid, *sink.identity, 2, kLeftOut, 0, 0, 0}), 0u) << "of other policies";
  EXPECT_EQ(left_out({tid, *sink.identity, 3, 1u << FT_TYPE_OFFCPU, 0, 0, 0}), 0u)
      << "only its waits are";
  EXPECT_GT(left_out({tid, *sink.identity, 3, kLeftOut, 0, 0, 0}), 20u);
  verdict.tasks = 0;
  SetFallback(verdict);
  EXPECT_EQ(spin().second, 0u) << "all of its cgroup is wanted now";
  verdict.tasks = 1;
  SetFallback(verdict);
  EXPECT_GT(spin().second, 20u);
  sampler_->SetTasksVersion(4);
  EXPECT_EQ(spin().second, 0u) << "other policies by now";
  sampler_->SetTasksVersion(3);
  EXPECT_GT(spin().second, 20u);
  // By its own cgroup's verdict.
  ft_verdict whole = verdict;
  whole.tasks = 0;
  struct stat own {};
  ASSERT_EQ(::stat(OwnCgroup(cgroup_root_).c_str(), &own), 0);
  ASSERT_TRUE(sampler_->SetVerdicts(own.st_ino, {{whole}}));
  EXPECT_EQ(spin().second, 0u) << "all of its cgroup is wanted now";
  sampler_->RemoveVerdicts(own.st_ino);
  EXPECT_GT(spin().second, 20u);
  {
    const InCgroup elsewhere(cgroup_root_, "firetower-test-" + std::to_string(getpid()));
    EXPECT_EQ(spin().second, 0u) << "another filter may hold there";
    EXPECT_GT(left_out({tid, *sink.identity, 3, kLeftOut, 0, 0, 0}), 20u) << "it is the same";
  }
  EXPECT_EQ(spin().second, 0u) << "and here again";
  EXPECT_GT(left_out({tid, *sink.identity, 3, kLeftOut, 0, 0, 0}), 20u);
  sampler_->ForgetTask(tid);
  EXPECT_EQ(spin().second, 0u);
  // CPUs: none of a set that is empty, all of one that is full.
  verdict.tasks = 0;
  verdict.cpus = 5;
  SetFallback(verdict);
  EXPECT_GT(spin().second, 20u);
  ft_cpu_set all;
  std::fill(std::begin(all.word), std::end(all.word), ~uint64_t{0});
  sampler_->SetCpuSet(5, all);
  EXPECT_EQ(spin().second, 0u);
}

// Pods that come and go have policies applied anew, several times a second.
TEST_F(SamplerBpf, TheSameRateAgainCostsNoTick) {
  const std::string online = *ReadFile("/sys/devices/system/cpu/online");
  const std::vector<int> cpus = ParseCpuList(online).value();
  for (int cpu : cpus) ASSERT_TRUE(sampler_->AttachCpu(cpu));
  const uint64_t before = sampler_->Counters().value[FT_COUNT_RUNS];
  {
    std::jthread again([&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        EXPECT_TRUE(sampler_->SetFrequency(997));
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    });
    EXPECT_NE(known_outer(400'000'000), 0u);
  }
  // A tick every 1.003 ms of this thread's 400 ms of CPU, but for those that emulation skips.
  EXPECT_GT(sampler_->Counters().value[FT_COUNT_RUNS] - before, 200u);
}

TEST_F(SamplerBpf, ThinsEvenlyToTheShareAsked) {
  SetFallback({FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL / 10, 10'030'090});
  Collected got = During([&] { EXPECT_NE(known_outer(400'000'000), 0u); });
  ft_counters counters = sampler_->Counters();
  double share =
      static_cast<double>(counters.value[FT_COUNT_SAMPLES]) /
      static_cast<double>(counters.value[FT_COUNT_SAMPLES] + counters.value[FT_COUNT_THINNED]);
  EXPECT_NEAR(share, 0.1, 0.02);
}

TEST_F(SamplerBpf, HearsOfForkExecMappingsAndExitWithBuildIds) {
  pid_t child = 0;
  Collected got = During([&] {
    child = fork();
    if (child == 0) {
      execl("/bin/true", "true", nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
  });
  bool forked = false, exec = false, exited = false, mapped = false;
  for (const SidebandEvent& event : got.sideband) {
    if (event.pid != static_cast<uint32_t>(child)) continue;
    forked |= event.kind == SidebandKind::kFork;
    exec |= event.kind == SidebandKind::kExec;
    exited |= event.kind == SidebandKind::kExit;
    mapped |= event.kind == SidebandKind::kMmap && event.build_id_size == 20;
  }
  EXPECT_TRUE(forked && exec && exited);
  EXPECT_EQ(mapped, capture_->build_ids());
}

}  // namespace
}  // namespace firetower::daemon
