// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/bpf_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "bpf/abi/record.h"
#include "daemon/capture/bpf_log.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/capture/families/program_family.h"
#include "daemon/capture/map_array.h"
#include "daemon/capture/perf_event.h"
#include "daemon/capture/task_maps.h"
#include "daemon/capture/unwind_maps.h"
#include "ft_sampler.skel.h"

namespace firetower::daemon {
namespace {

// Walks left to user space, on each CPU: each costs a copy of 16 KiB. More than one for every
// sample at the default rate, so that a wave of new programs is whole; a tenth of the highest
// rate's.
constexpr uint32_t kColdPerSecond = 200;
constexpr uint32_t kColdBurst = 50;

constexpr uint64_t kThreadSizeBytes = 16384;  // x86-64 without KASAN

template <typename Skeleton, void (*Destroy)(Skeleton*)>
struct SkeletonDeleter {
  void operator()(Skeleton* skeleton) const { Destroy(skeleton); }
};
using SamplerSkeleton =
    std::unique_ptr<ft_sampler_bpf, SkeletonDeleter<ft_sampler_bpf, ft_sampler_bpf__destroy>>;

struct RingDeleter {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

Result<uint32_t> NumberOfController(const std::string& controller) {
#define FT_NAME(name) #name,
  static constexpr std::string_view kNames[] = {FT_CONTROLLERS(FT_NAME)};
#undef FT_NAME
  // The controller is called blkio for users and io inside the kernel.
  const std::string_view wanted = controller == "blkio" ? "io" : std::string_view(controller);
  const auto* found = std::find(std::begin(kNames), std::end(kNames), wanted);
  if (found == std::end(kNames)) {
    return Error(ErrorCode::kUnsupported, "cgroup controller " + controller + " is not known");
  }
  return static_cast<uint32_t>(found - std::begin(kNames));
}

Result<ft_load_config> LoadConfig(const SamplerOptions& options) {
  ft_load_config config{};
  config.use_v2 = options.hierarchy.v2 ? 1 : 0;
  config.hierarchy_id = options.hierarchy.hierarchy_id;
  if (!options.hierarchy.v2) {
    ASSIGN_OR_RETURN(config.v1_controller, NumberOfController(options.hierarchy.controller));
  }
  config.user_reads = options.user_reads ? 1 : 0;
  config.thread_size = kThreadSizeBytes;
  config.wake_bytes = static_cast<uint32_t>(options.ring_bytes / 4);
  config.cold_interval_ns = kNsPerSecond / kColdPerSecond;
  config.cold_burst_ns = kColdBurst * config.cold_interval_ns;
  return config;
}

uint64_t ObjectMapBytes(const bpf_object* object) {
  uint64_t bytes = 0;
  const bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) bytes += MapMemory(bpf_map__fd(map));
  return bytes;
}

// The counters that a dropped tick touches lie in one cache line of its CPU.
static_assert(FT_COUNT_RUNS < FT_COUNT_FILTERED && FT_COUNT_RUN_NS < FT_COUNT_FILTERED);
static_assert(offsetof(ft_cpu, counters) + sizeof(__u64) * (FT_COUNT_FILTERED + 1) <= 64);

class Sampler : public BpfSampler {
 public:
  ~Sampler() override {
    if (config_ != nullptr) ::munmap(config_, PageBytes());
    if (own_ != nullptr) ::munmap(own_, sizeof(ft_cpu) * cpu_count_);
  }

  Status Open(const SamplerOptions& options) {
    frequency_hz_ = options.frequency_hz;
    ASSIGN_OR_RETURN(ft_load_config config, LoadConfig(options));
    BpfLog log;
    sampler_.reset(ft_sampler_bpf__open());
    if (!sampler_) return log.Failure("open the BPF object", errno);
    std::memcpy(const_cast<ft_load_config*>(&sampler_->rodata->load_config), &config,
                sizeof(config));
    bpf_map__set_max_entries(sampler_->maps.ft_ring, static_cast<uint32_t>(options.ring_bytes));
    bpf_map__set_max_entries(sampler_->maps.ft_cpus, static_cast<uint32_t>(cpu_count_));
    // The sampler attaches to events opened later, one by one.
    bpf_program__set_autoattach(sampler_->progs.ft_sample_cpu, false);
    if (int error = ft_sampler_bpf__load(sampler_.get())) {
      return log.Failure("load the BPF programs", -error);
    }
    RETURN_IF_ERROR(MapConfig());
    RETURN_IF_ERROR(MapCpus());
    TurnGateVersion();
    RETURN_IF_ERROR(unwind_.Open(bpf_map__fd(sampler_->maps.ft_slabs),
                                 bpf_map__fd(sampler_->maps.ft_modules),
                                 bpf_map__fd(sampler_->maps.ft_processes)));
    RETURN_IF_ERROR(
        tasks_.Open(bpf_map__fd(sampler_->maps.ft_tasks), bpf_map__fd(sampler_->maps.ft_cpu_sets)));
    ring_.reset(ring_buffer__new(bpf_map__fd(sampler_->maps.ft_ring), OnRingRecord, this, nullptr));
    if (!ring_) return ErrnoError("map the sample ring");
    return OkStatus();
  }

  Status AttachCgroups() override {
    // Without this tracepoint, OOM kills show only in the cgroup's files.
    bpf_program__set_autoattach(sampler_->progs.ft_oom_victim, false);
    oom_.reset(bpf_program__attach_raw_tracepoint(sampler_->progs.ft_oom_victim, "mark_victim"));
    if (int error = ft_sampler_bpf__attach(sampler_.get())) {
      return ErrnoError("attach the cgroup programs (tp_btf/cgroup_*)", -error);
    }
    return OkStatus();
  }

  Status AttachCpu(int cpu) override {
    std::lock_guard lock(cpus_mutex_);
    ASSIGN_OR_RETURN(UniqueFd event, OpenCpuClock(cpu, PeriodNs(frequency_hz_)));
    int fd = event.get();
    Link link(bpf_program__attach_perf_event(sampler_->progs.ft_sample_cpu, fd));
    if (!link) return ErrnoError(fmt::format("attach the sampler to CPU {}", cpu));
    event.release();  // The link closes it.
    cpus_[cpu] = CpuEvent{std::move(link), fd};
    ++changes_;
    return OkStatus();
  }

  void DetachCpu(int cpu) override {
    std::lock_guard lock(cpus_mutex_);
    cpus_.erase(cpu);
    ++changes_;
  }

  Status SetFrequency(uint32_t frequency_hz) override {
    std::lock_guard lock(cpus_mutex_);
    // Setting a period restarts it, even the same one, which costs half a tick.
    if (frequency_hz_ == frequency_hz) return OkStatus();
    ++changes_;
    for (auto& [cpu, event] : cpus_) RETURN_IF_ERROR(SetPeriod(event.fd, PeriodNs(frequency_hz)));
    frequency_hz_ = frequency_hz;
    return OkStatus();
  }

  int ring_fd() const override { return ring_buffer__epoll_fd(ring_.get()); }

  void Drain(Sink& sink) override {
    sink_ = &sink;
    ring_buffer__consume(ring_.get());
    sink_ = nullptr;
  }

  void SetEpoch(uint32_t epoch) override {
    __atomic_store_n(&config_->epoch, epoch, __ATOMIC_RELAXED);
  }

  void SetFallback(const ft_verdicts& verdicts) override {
    config_->fallback = verdicts;
    TurnGateVersion();
  }

  Status SetVerdicts(uint64_t cgroup_id, const ft_verdicts& verdicts) override {
    return UpdateGate(cgroup_id, verdicts, BPF_ANY);
  }

  Status ChangeVerdicts(uint64_t cgroup_id, const ft_verdicts& verdicts) override {
    return UpdateGate(cgroup_id, verdicts, BPF_EXIST);
  }

  void RemoveVerdicts(uint64_t cgroup_id) override {
    bpf_map_delete_elem(bpf_map__fd(sampler_->maps.ft_gate), &cgroup_id);
    TurnGateVersion();
  }

  void SetTasksVersion(uint32_t version) override {
    __atomic_store_n(&config_->tasks_version, version, __ATOMIC_RELEASE);
    TurnGateVersion();
  }
  void SetTask(const ft_task& verdict) override { tasks_.Set(verdict); }
  void ForgetTask(uint32_t tid) override { tasks_.Forget(tid); }
  void SetCpuSet(uint32_t index, const ft_cpu_set& cpus) override { tasks_.SetCpus(index, cpus); }

  UnwindMemory& unwind_memory() override { return unwind_; }

  ft_counters Counters() const override {
    ft_counters sum{};
    for (const ft_cpu& cpu : std::span(own_, cpu_count_)) AddCounters(cpu.counters, sum);
    return sum;
  }

  Counted CountedTime() const override {
    std::lock_guard lock(cpus_mutex_);
    Counted counted{0, changes_};
    for (const auto& [cpu, event] : cpus_) {
      uint64_t count = 0;
      if (::read(event.fd, &count, sizeof(count)) == sizeof(count)) counted.ns += count;
    }
    return counted;
  }

  ft_load_config load_config() const override { return sampler_->rodata->load_config; }
  size_t cpu_count() const override { return cpu_count_; }
  int SharedMap(std::string_view name) const override {
    constexpr std::string_view kShared[] = {"ft_ring",      "ft_gate",  "ft_cpus",
                                            "ft_config",    "ft_slabs", "ft_modules",
                                            "ft_processes", "ft_tasks", "ft_cpu_sets"};
    if (std::ranges::find(kShared, name) == std::end(kShared)) return -1;
    return bpf_object__find_map_fd_by_name(sampler_->obj, std::string(name).c_str());
  }

  uint64_t MapBytes() const override { return ObjectMapBytes(sampler_->obj) + unwind_.SlabBytes(); }

  uint32_t VerifiedInstructions() const override {
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    int fd = bpf_program__fd(sampler_->progs.ft_sample_cpu);
    return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.verified_insns : 0;
  }

 private:
  struct CpuEvent {
    Link link;
    int fd = -1;
  };

  static size_t PageBytes() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  static uint64_t PeriodNs(uint32_t frequency_hz) {
    return static_cast<uint64_t>(kNsPerSecond) / frequency_hz;
  }

  static size_t PossibleCpus() {
    return static_cast<size_t>(
        PossibleCpuEnd("/sys").value_or(std::max(libbpf_num_possible_cpus(), 1)));
  }

  // Called when something changed that verdicts on threads depend on: their next tick looks
  // everything up again. A tick that is running with the old state has read the old version, and
  // stores that one.
  void TurnGateVersion() {
    ++gate_version_;
    for (ft_cpu& cpu : std::span(own_, cpu_count_)) {
      __atomic_store_n(&cpu.gate_version, gate_version_, __ATOMIC_RELEASE);
    }
  }

  Status UpdateGate(uint64_t cgroup_id, const ft_verdicts& verdicts, uint64_t flags) {
    int map = bpf_map__fd(sampler_->maps.ft_gate);
    ft_verdicts known{};
    // While a cgroup is searched for, all verdicts are sent again each second, and each new version
    // would write to the cache line of every CPU.
    if (bpf_map_lookup_elem(map, &cgroup_id, &known) == 0 &&
        std::memcmp(&known, &verdicts, sizeof(known)) == 0) {
      return OkStatus();
    }
    if (bpf_map_update_elem(map, &cgroup_id, &verdicts, flags) != 0) {
      return ErrnoError(fmt::format("verdicts on cgroup {}", cgroup_id));
    }
    TurnGateVersion();
    return OkStatus();
  }

  static int OnRingRecord(void* self, void* data, size_t size) noexcept {
    static_cast<Sampler*>(self)->sink_->OnRecord({static_cast<const std::byte*>(data), size});
    return 0;
  }

  Status MapConfig() {
    return MapArray(bpf_map__fd(sampler_->maps.ft_config), PageBytes(),
                    "map the sampler's configuration", config_);
  }

  Status MapCpus() {
    return MapArray(bpf_map__fd(sampler_->maps.ft_cpus), sizeof(ft_cpu) * cpu_count_,
                    "map the sampler's counters", own_);
  }

  SamplerSkeleton sampler_;
  Link oom_;
  UnwindMaps unwind_;
  TaskMaps tasks_;
  std::unique_ptr<ring_buffer, RingDeleter> ring_;
  // CPUs come and go on the capture thread; rates change on another one, a few times an hour.
  mutable std::mutex cpus_mutex_;
  std::map<int, CpuEvent> cpus_;
  uint64_t changes_ = 0;  // of them or of the rate
  ft_config* config_ = nullptr;
  ft_cpu* own_ = nullptr;  // by CPU
  const size_t cpu_count_ = PossibleCpus();
  uint32_t gate_version_ = 0;
  Sink* sink_ = nullptr;
  uint32_t frequency_hz_ = 97;
};

}  // namespace

Status BpfSampler::ShareMaps(bpf_object* object) const {
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) {
    const int fd = SharedMap(bpf_map__name(map));
    if (fd < 0) continue;
    if (int error = bpf_map__reuse_fd(map, fd))
      return ErrnoError(std::string("share the map ") + bpf_map__name(map), -error);
  }
  return OkStatus();
}

uint64_t MapMemory(int map_fd) {
  Result<std::string> info = ReadFile(fmt::format("/proc/self/fdinfo/{}", map_fd));
  if (!info) return 0;
  size_t at = info->find("memlock:");
  return at == std::string::npos ? 0 : std::strtoull(info->c_str() + at + 8, nullptr, 10);
}

Result<std::unique_ptr<BpfSampler>> BpfSampler::Load(const SamplerOptions& options) {
  auto sampler = std::make_unique<Sampler>();
  RETURN_IF_ERROR(sampler->Open(options));
  return std::unique_ptr<BpfSampler>(std::move(sampler));
}

}  // namespace firetower::daemon
