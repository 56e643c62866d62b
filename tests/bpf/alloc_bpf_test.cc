// SPDX-License-Identifier: Apache-2.0
// The programs of allocations on the running kernel: this process's own allocations, of which it
// knows the number.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "daemon/allocations/allocator.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/families/alloc_programs.h"
#include "daemon/health/kernel_version.h"
#include "daemon/pipeline/resolver.h"
#include "daemon/process/proc_fs.h"
#include "tests/bpf/loaded_sampler.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kSampleBytes = 16384;

// Allocations and samples of one size, and the frames of their stacks.
class Allocations : public BpfSampler::Sink {
 public:
  struct Sum {
    uint64_t objects = 0;
    uint64_t bytes = 0;
    uint64_t samples = 0;
  };
  void OnRecord(std::span<const std::byte> record) noexcept override {
    const auto kind = static_cast<uint8_t>(record[offsetof(ft_sample, kind)]);
    if (kind == FT_KIND_FREED) {
      ft_freed freed;
      std::memcpy(&freed, record.data(), sizeof(freed));
      EXPECT_EQ(freed.tgid, static_cast<uint32_t>(::getpid()));
      const auto size = sizes_.find({freed.sample_ns, freed.tid});
      ASSERT_NE(size, sizes_.end()) << "each is told once, and after its sample";
      ++freed_[{size->second, freed.why}];
      sizes_.erase(size);
      return;
    }
    if (kind != FT_KIND_SAMPLE && kind != FT_KIND_COLD) return;
    ft_sample sample;
    std::memcpy(&sample, record.data(), sizeof(sample));
    EXPECT_EQ(sample.type, FT_TYPE_MEMORY);
    EXPECT_EQ(sample.tgid, static_cast<uint32_t>(::getpid()));
    const Amount amount = AmountOf(sample);
    Sum& sum = of_[amount.value / amount.count];
    sum.objects += amount.count;
    sum.bytes += amount.value;
    ++sum.samples;
    sizes_[{sample.time_ns, sample.tid}] = amount.value / amount.count;
  }
  uint64_t Freed(uint64_t size, uint8_t why) { return freed_[{size, why}]; }
  // The samples of a size that nobody has freed.
  uint64_t InUse(uint64_t size) const {
    return static_cast<uint64_t>(
        std::ranges::count_if(sizes_, [&](const auto& entry) { return entry.second == size; }));
  }
  const Sum& Of(uint64_t size) { return of_[size]; }

 private:
  std::map<uint64_t, Sum> of_;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> sizes_;  // by time and thread of the sample
  std::map<std::pair<uint64_t, uint8_t>, uint64_t> freed_;   // by size and enum ft_freed_why
};

class AllocBpf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    auto sampler = testing::LoadSampler();
    ASSERT_TRUE(sampler) << sampler.error().message();
    sampler_ = *std::move(sampler);
    ft_verdicts verdicts{};
    for (ft_verdict& verdict : verdicts.of) verdict.kind = verdict.child = FT_VERDICT_NO;
    verdicts.of[FT_TYPE_MEMORY] = {FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL, 0};
    sampler_->SetFallback(verdicts);
    auto programs = AllocPrograms::Load(*sampler_, "/sys");
    ASSERT_TRUE(programs) << programs.error().message();
    programs_ = *std::move(programs);
  }

  // Probes every allocator that this process has mapped.
  void Probe(bool in_use = false) {
    const auto lines = ProcFs("/proc").Maps(pid_);
    ASSERT_TRUE(lines);
    size_t probed = 0;
    for (const MapsLine& line : *lines) {
      if (!line.path.starts_with('/')) continue;
      Result<symbolizer::FileSource> file = symbolizer::FileSource::Open(line.path);
      if (!file) continue;
      const auto functions = FindAllocator(*file);
      if (!functions || functions->empty()) continue;
      auto probes = programs_->Probe(pid_, file->fd(), *functions, in_use);
      ASSERT_TRUE(probes) << probes.error().message();
      for (UniqueFd& probe : *probes) probes_.push_back(std::move(probe));
      probed += functions->size();
    }
    ASSERT_GE(probed, 7u) << "the malloc family";
  }

  void Near(uint64_t size, uint64_t objects) {
    const Allocations::Sum& sum = told_.Of(size);
    // Each sample stands for as many; five times the deviation of their number.
    const double samples =
        static_cast<double>(objects) * std::min(1.0, static_cast<double>(size) / kSampleBytes);
    const double part = size >= kSampleBytes ? 0 : 5 / std::sqrt(samples);
    EXPECT_NEAR(static_cast<double>(sum.objects), static_cast<double>(objects),
                part * static_cast<double>(objects))
        << "of " << size << " bytes";
    EXPECT_EQ(sum.bytes, sum.objects * size);
    EXPECT_LE(static_cast<double>(sum.samples), samples * (1 + part)) << size;
  }

  static void Free(void* memory) {
    ASSERT_NE(memory, nullptr);
    static void* volatile kept;
    kept = memory;
    std::free(kept);
  }

  const uint32_t pid_ = static_cast<uint32_t>(::getpid());
  std::unique_ptr<BpfSampler> sampler_;
  std::unique_ptr<AllocPrograms> programs_;
  std::vector<UniqueFd> probes_;
  Allocations told_;
};

// Takes CAP_SYS_ADMIN from this thread while it is there.
class WithoutAdmin {
 public:
  WithoutAdmin() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    EXPECT_EQ(::syscall(SYS_capget, &header, kept_), 0);
    __user_cap_data_struct fewer[2] = {kept_[0], kept_[1]};
    fewer[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
    EXPECT_EQ(::syscall(SYS_capset, &header, fewer), 0);
  }
  ~WithoutAdmin() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    EXPECT_EQ(::syscall(SYS_capset, &header, kept_), 0);
  }

 private:
  __user_cap_data_struct kept_[2] = {};
};

// The chart's agents run like this. Kernels between perf events for PERFMON and links say what is
// missing.
TEST_F(AllocBpf, NeedsNoAdminWhereTheKernelHasLinks) {
  const WithoutAdmin without;
  auto programs = AllocPrograms::Load(*sampler_, "/sys");
  const auto version = UpstreamVersion(ReadKernelIdentity("/proc"));
  ASSERT_TRUE(version);
  if (!programs && *version < KernelVersion{6, 6, 0}) {
    EXPECT_EQ(programs.error().code(), ErrorCode::kPermission) << programs.error().message();
    EXPECT_NE(programs.error().message().find("CAP_SYS_ADMIN"), std::string::npos);
    return;
  }
  ASSERT_TRUE(programs) << programs.error().message();
  programs_ = *std::move(programs);
  Probe();
  ASSERT_TRUE(programs_->AddProcess(pid_, {.sample_bytes = kSampleBytes}));
  constexpr int kEach = 100;
  const auto allocate = [] {
    for (int i = 0; i < kEach; ++i) {
      Free(std::malloc(50001));
      Free(std::calloc(3, 20001));
      Free(std::realloc(nullptr, 90001));
    }
  };
  allocate();
  std::thread(allocate).join();  // its threads, too
  probes_.clear();
  Free(std::malloc(50001));
  sampler_->Drain(told_);
  for (const uint64_t size : {50001u, 60003u, 90001u}) Near(size, 2 * kEach);
}

TEST_F(AllocBpf, FollowsAllocationsUntilTheyAreFreed) {
  Probe(true);
  ASSERT_TRUE(programs_->AddProcess(pid_, {.sample_bytes = 30000, .in_use = true}));
  constexpr int kEach = 100;
  std::vector<void*> kept;
  for (int i = 0; i < kEach; ++i) {
    kept.push_back(std::malloc(50001));
    Free(std::malloc(50002));
    kept.push_back(std::calloc(3, 20001));
    // An argument of realloc is not in use any more, whether it moves or not.
    kept.push_back(std::realloc(std::malloc(40001), 80001));
    Free(std::realloc(std::malloc(40002), 40003));
    kept.push_back(std::realloc(nullptr, 90001));
    kept.push_back(std::aligned_alloc(4096, 102400));
    void* aligned = nullptr;
    ASSERT_EQ(::posix_memalign(&aligned, 64, 70001), 0);
    kept.push_back(aligned);
    ASSERT_EQ(::posix_memalign(&aligned, 64, 70002), 0);
    Free(aligned);
    kept.push_back(::operator new(60013));
    ::operator delete(::operator new(60017));
  }
  // Another thread frees it.
  void* handed = std::malloc(30001);
  std::thread([&] { Free(handed); }).join();
  volatile size_t too_much = size_t{1} << 44;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit little{size_t{1} << 40, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
  EXPECT_EQ(std::malloc(too_much), nullptr);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  sampler_->Drain(told_);
  for (const uint64_t size : {50001u, 60003u, 80001u, 90001u, 102400u, 70001u, 60013u}) {
    EXPECT_EQ(told_.InUse(size), uint64_t{kEach}) << size;
    EXPECT_EQ(told_.Freed(size, FT_FREED), 0u) << size;
  }
  for (const uint64_t size : {50002u, 40001u, 40002u, 40003u, 70002u, 60017u}) {
    EXPECT_EQ(told_.InUse(size), 0u) << size;
    EXPECT_EQ(told_.Freed(size, FT_FREED), uint64_t{kEach}) << size;
  }
  EXPECT_EQ(told_.Freed(30001, FT_FREED), 1u);
  EXPECT_EQ(told_.Freed(uint64_t{1} << 44, FT_FREED_NEVER), 1u);
  for (void* memory : kept) Free(memory);
  sampler_->Drain(told_);
  for (const uint64_t size : {50001u, 60003u, 80001u, 90001u, 102400u, 70001u, 60013u})
    EXPECT_EQ(told_.Freed(size, FT_FREED), uint64_t{kEach}) << size;
  // The room of a process that has ended is for others.
  void* left[] = {std::malloc(50001), std::malloc(50001)};
  EXPECT_EQ(programs_->ForgetRemoved(), 0u) << "it is followed";
  programs_->RemoveProcess(pid_);
  EXPECT_GE(programs_->ForgetRemoved(), 2u);
  EXPECT_EQ(programs_->ForgetRemoved(), 0u);
  probes_.clear();
  for (void* memory : left) Free(memory);
}

// Since Linux 6.11 a probed return is a system call, which no filter knows.
TEST_F(AllocBpf, HarmsNoProcessWithASeccompFilter) {
  if (!ReturnProbesAllowed(ReadKernelIdentity("/proc")))
    GTEST_SKIP() << "the daemon probes no returns on this kernel";
  Probe(true);
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uint32_t kUretprobe = 335;
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kUretprobe, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(filter), filter};
    char byte = 0;
    if (::read(gate[0], &byte, 1) != 1 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      ::_exit(2);
    for (int i = 0; i < 100; ++i) Free(std::malloc(50001));
    ::_exit(0);
  }
  const auto pid = static_cast<uint32_t>(child);
  ASSERT_TRUE(programs_->AddProcess(pid, {.sample_bytes = 30000, .in_use = true}));
  const auto libc = symbolizer::FileSource::Open("/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_TRUE(libc) << libc.error().message();
  auto probes = programs_->Probe(pid, libc->fd(), *FindAllocator(*libc), true);
  ASSERT_TRUE(probes) << probes.error().message();
  ASSERT_EQ(::write(gate[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_GE(programs_->Calls(pid), 300u) << "calls, returns and frees were met";
  for (int end : gate) ::close(end);
}

// One test for the rest: where the machine is emulated, loading the programs takes seconds.
TEST_F(AllocBpf, TellsAllocationsByTheirBytes) {
  Probe();
  constexpr int kSmall = 8000, kLarge = 100;
  for (int i = 0; i < kLarge; ++i) Free(std::malloc(50002));
  EXPECT_EQ(programs_->Calls(pid_), 0u) << "it is not added yet";
  ASSERT_TRUE(programs_->AddProcess(pid_, {.sample_bytes = kSampleBytes}));
  // A call that asks for too much is no allocation.
  volatile size_t too_much = size_t{1} << 62;
  EXPECT_EQ(std::malloc(too_much), nullptr);
  EXPECT_EQ(std::calloc(too_much, 4), nullptr);
  for (int i = 0; i < kSmall; ++i) Free(std::malloc(333));
  for (int i = 0; i < kLarge; ++i) {
    Free(std::malloc(50001));
    Free(std::calloc(3, 20001));
    Free(std::realloc(std::malloc(40001), 80001));
    // Its own call of malloc is no second allocation.
    Free(std::realloc(nullptr, 90001));
    Free(std::aligned_alloc(4096, 102400));
    void* aligned = nullptr;
    ASSERT_EQ(::posix_memalign(&aligned, 64, 70001), 0);
    Free(aligned);
    Free(::reallocarray(nullptr, 2, 55001));
  }
  const uint64_t calls = programs_->Calls(pid_);
  probes_.clear();
  Free(std::malloc(50001));
  sampler_->Drain(told_);
  EXPECT_GE(calls, uint64_t{kSmall + 8 * kLarge});
  EXPECT_EQ(programs_->Calls(pid_), calls) << "without probes nothing is counted";
  Near(333, kSmall);
  for (const uint64_t size : {50001u, 60003u, 40001u, 80001u, 90001u, 102400u, 70001u, 110002u})
    Near(size, kLarge);
  EXPECT_EQ(told_.Of(50002).samples, 0u);
  EXPECT_EQ(told_.Of(too_much).samples, 0u);
  const AllocCounters counters = programs_->Counters();
  EXPECT_EQ(counters.counters.value[FT_COUNT_RING_FULL], 0u);
  EXPECT_EQ(counters.missed, 0u);
  EXPECT_GT(programs_->MapBytes(), 0u);
  programs_->RemoveProcess(pid_);
  EXPECT_EQ(programs_->Calls(pid_), 0u);
}

}  // namespace
}  // namespace firetower::daemon
