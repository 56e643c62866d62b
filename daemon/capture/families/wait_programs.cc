// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/families/wait_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "base/clock.h"
#include "daemon/capture/bpf_log.h"
#include "daemon/capture/families/program_family.h"
#include "daemon/capture/map_array.h"
#include "ft_offcpu.skel.h"

namespace firetower::daemon {
namespace {

struct SkeletonDeleter {
  void operator()(ft_offcpu_bpf* skeleton) const { ft_offcpu_bpf__destroy(skeleton); }
};

// Tells whether the kernel's types have one of that name.
bool KernelHas(const char* type) {
  btf* types = btf__load_vmlinux_btf();
  const bool has = types != nullptr && btf__find_by_name_kind(types, type, BTF_KIND_TYPEDEF) > 0;
  btf__free(types);
  return has;
}

class Programs : public WaitPrograms {
 public:
  ~Programs() override {
    if (own_ != nullptr) ::munmap(own_, sizeof(ft_offcpu_cpu) * cpu_count_);
  }

  Status Open(BpfSampler& sampler, const WaitOptions& options) {
    BpfLog log;
    object_.reset(ft_offcpu_bpf__open());
    if (!object_) return log.Failure("open the BPF object", errno);
    object_->data->offcpu_config.walk_ns =
        static_cast<uint64_t>(kNsPerSecond) / options.walks_per_second;
    cpu_count_ = sampler.cpu_count();
    max_waiting_ = options.max_waiting;
    bpf_map__set_max_entries(object_->maps.ft_waiting, options.max_waiting);
    // The kernel does not change, and its types are megabytes.
    static const bool has_contention = KernelHas("btf_trace_contention_begin");
    has_contention_ = has_contention;
    for (bpf_program* program :
         {object_->progs.ft_contention_begin, object_->progs.ft_contention_end}) {
      bpf_program__set_autoload(program, has_contention_);
      bpf_program__set_autoattach(program, false);
    }
    return LoadFamily(sampler, log, *object_, ft_offcpu_bpf__load, object_->maps.ft_offcpu_cpus,
                      "the off-CPU programs", own_);
  }

  Status TellKernelLocks(bool wanted) override {
    if (wanted && !has_contention_)
      return Error(ErrorCode::kUnsupported,
                   "this kernel does not tell waits for its own locks (tracepoint "
                   "contention_begin, from Linux 5.19 on)");
    if (wanted == (locks_begin_ != nullptr)) return OkStatus();
    // Behind the memory mapping of the loaded programs' data.
    __atomic_store_n(&object_->data->offcpu_config.kernel_locks, wanted ? ++lock_turns_ : 0,
                     __ATOMIC_RELAXED);
    if (!wanted) {
      locks_begin_.reset();
      locks_end_.reset();
    } else {
      // The end first, so that no begin is left without one.
      locks_end_.reset(bpf_program__attach(object_->progs.ft_contention_end));
      if (locks_end_) locks_begin_.reset(bpf_program__attach(object_->progs.ft_contention_begin));
      if (!locks_begin_) return ErrnoError("attach to contention_begin and contention_end");
    }
    return OkStatus();
  }

  Status Attach() override {
    // The maps may have switches from before, whose other end was not seen.
    __atomic_store_n(&object_->data->offcpu_config.attached_ns,
                     static_cast<uint64_t>(Clock::System().MonotonicNs()), __ATOMIC_RELAXED);
    if (int error = ft_offcpu_bpf__attach(object_.get())) {
      return ErrnoError("attach the off-CPU programs (tp_btf/sched_switch, sched_waking)", -error);
    }
    return OkStatus();
  }

  void Detach() override {
    std::ignore = TellKernelLocks(false);
    ft_offcpu_bpf__detach(object_.get());
  }

  void SetShortest(int64_t wait_ns) override {
    // Behind the memory mapping of the loaded programs' data.
    __atomic_store_n(&object_->data->offcpu_config.min_wait_ns, static_cast<uint64_t>(wait_ns),
                     __ATOMIC_RELAXED);
  }

  std::vector<WaitingThread> WaitsThatGoOn() const override {
    const int map = bpf_map__fd(object_->maps.ft_waiting);
    // Room for all that there may be: a batch fails if a bucket does not fit into it.
    std::vector<uint32_t> tids(max_waiting_);
    std::vector<ft_waiting> waits(max_waiting_);
    std::vector<WaitingThread> found;
    uint32_t position = 0, count = max_waiting_;
    bpf_map_lookup_batch(map, nullptr, &position, tids.data(), waits.data(), &count, nullptr);
    found.reserve(count);
    const uint64_t attached_ns =
        __atomic_load_n(&object_->data->offcpu_config.attached_ns, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; ++i)
      if (waits[i].begin_ns > attached_ns) found.push_back({tids[i], waits[i]});
    return found;
  }

  WaitCounters Counters() const override {
    WaitCounters sum;
    for (const ft_offcpu_cpu& cpu : std::span(own_, cpu_count_)) {
      for (size_t i = 0; i < FT_OFFCPU_COUNTER_MAX; ++i) sum.value[i] += ReadShared(cpu.value[i]);
      AddCounters(cpu.counters, sum.counters);
    }
    return sum;
  }

  uint64_t MapBytes() const override {
    return MapMemory({object_->maps.ft_waiting, object_->maps.ft_waiting_slots,
                      object_->maps.ft_threads, object_->maps.ft_places, object_->maps.ft_contended,
                      object_->maps.ft_offcpu_cpus, object_->maps.ft_scratch, object_->maps.ft_seen,
                      object_->maps.ft_chain, object_->maps.ft_functions,
                      object_->maps.ft_python_threads});
  }

 private:
  std::unique_ptr<ft_offcpu_bpf, SkeletonDeleter> object_;
  ft_offcpu_cpu* own_ = nullptr;  // by CPU
  size_t cpu_count_ = 0;
  uint32_t max_waiting_ = 0;
  bool has_contention_ = false;
  uint32_t lock_turns_ = 0;  // how often they were told apart
  Link locks_begin_;
  Link locks_end_;
};

}  // namespace

Result<std::unique_ptr<WaitPrograms>> WaitPrograms::Load(BpfSampler& sampler,
                                                         const WaitOptions& options) {
  auto programs = std::make_unique<Programs>();
  RETURN_IF_ERROR(programs->Open(sampler, options));
  return std::unique_ptr<WaitPrograms>(std::move(programs));
}

}  // namespace firetower::daemon
