// SPDX-License-Identifier: Apache-2.0
// The number of instructions that the running kernel's verifier processes for each of our programs.
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/abi/config.h"
#include "bpf/abi/event.h"
#include "bpf/abi/offcpu.h"
#include "ft_alloc.skel.h"
#include "ft_event.skel.h"
#include "ft_offcpu.skel.h"
#include "ft_sampler.skel.h"

namespace firetower {
namespace {

// include/linux/bpf.h, BPF_COMPLEXITY_LIMIT_INSNS: a program that takes more is refused. Half of it
// leaves room for kernels that see less in the same program.
constexpr uint64_t kLimit = 1'000'000;
constexpr uint64_t kBudget = kLimit / 2;

// include/linux/bpf_verifier.h, BPF_LOG_STATS: one line with the count, on every kernel from 5.2.
// The field of struct bpf_prog_info is there from 5.16 only.
constexpr uint32_t kLogStats = 4;

struct ObjectDeleter {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

ft_load_config Config(bool use_v2) {
  ft_load_config config{};
  config.use_v2 = use_v2 ? 1 : 0;
  config.v1_controller = FT_CONTROLLER_cpu;
  config.user_reads = 1;
  config.thread_size = 16384;
  config.wake_bytes = 1 << 19;
  config.cold_interval_ns = 5'000'000;
  config.cold_burst_ns = 250'000'000;
  return config;
}

// "processed N insns (limit 1000000) …"
uint64_t Processed(const std::string& log) {
  size_t at = log.rfind("processed ");
  return at == std::string::npos ? 0 : std::strtoull(log.c_str() + at + 10, nullptr, 10);
}

// The last messages of libbpf, for a load that failed.
std::string& Warnings() {
  static std::string text;
  return text;
}
int KeepWarning(libbpf_print_level level, const char* format, va_list arguments) {
  char line[1024];
  std::vsnprintf(line, sizeof(line), format, arguments);
  if (level == LIBBPF_WARN) Warnings() += line;
  return 0;
}

// Linux 5.19 and newer tell the waits for their own locks; our programs do without (WaitPrograms).
bool Loads(bpf_program* program) {
  if (!std::string_view(bpf_program__name(program)).starts_with("ft_contention")) return true;
  btf* types = btf__load_vmlinux_btf();
  const bool has =
      btf__find_by_name_kind(types, "btf_trace_contention_begin", BTF_KIND_TYPEDEF) > 0;
  btf__free(types);
  bpf_program__set_autoload(program, has);
  return has;
}

// Instructions processed by program, with this configuration as rodata.
void Load(const void* elf, size_t size, const ft_load_config& config,
          std::map<std::string, uint64_t>& processed) {
  std::unique_ptr<bpf_object, ObjectDeleter> object(bpf_object__open_mem(elf, size, nullptr));
  ASSERT_NE(object, nullptr) << Warnings();
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object.get()) {
    size_t bytes = 0;
    if (std::string_view(bpf_map__name(map)).ends_with(".rodata")) {
      auto* rodata = bpf_map__initial_value(map, &bytes);
      ASSERT_GE(bytes, sizeof(config));
      std::memcpy(const_cast<void*>(rodata), &config, sizeof(config));
    }
  }
  std::map<std::string, std::vector<char>> logs;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) {
    if (!Loads(program)) continue;
    std::vector<char>& log = logs[bpf_program__name(program)];
    log.resize(1 << 20);
    bpf_program__set_log_level(program, kLogStats);
    bpf_program__set_log_buf(program, log.data(), log.size());
  }
  int loaded = bpf_object__load(object.get());
  for (const auto& [name, log] : logs) processed[name] = Processed(log.data());
  ASSERT_EQ(loaded, 0) << Warnings();
}

class VerifierBudget : public ::testing::TestWithParam<bool> {};

TEST_P(VerifierBudget, EveryProgramTakesLessThanHalfTheLimit) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  libbpf_set_print(KeepWarning);
  utsname kernel{};
  ASSERT_EQ(uname(&kernel), 0);
  std::map<std::string, uint64_t> processed;
  size_t size = 0;
  const void* elf = ft_sampler_bpf__elf_bytes(&size);
  Load(elf, size, Config(GetParam()), processed);
  EXPECT_GE(processed.size(), 4u);
  elf = ft_offcpu_bpf__elf_bytes(&size);
  Load(elf, size, Config(GetParam()), processed);
  EXPECT_GE(processed.size(), 6u);
  elf = ft_event_bpf__elf_bytes(&size);
  Load(elf, size, Config(GetParam()), processed);
  EXPECT_GE(processed.size(), 8u);
  elf = ft_alloc_bpf__elf_bytes(&size);
  Load(elf, size, Config(GetParam()), processed);
  EXPECT_GE(processed.size(), 14u);
  for (const auto& [name, count] : processed) {
    std::printf("%s, cgroup %s: %s: %llu instructions verified, at most %llu\n", kernel.release,
                GetParam() ? "v2" : "v1", name.c_str(), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(kBudget));
    // Some are short: those of locks note one, and most threads are not waited for.
    EXPECT_GT(count, name.starts_with("ft_sample") || name == "ft_offcpu_switch" ? 100u : 20u)
        << name;
    EXPECT_LT(count, kBudget) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Hierarchies, VerifierBudget, ::testing::Values(true, false));

}  // namespace
}  // namespace firetower
