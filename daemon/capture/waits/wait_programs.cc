// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/waits/wait_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/clock.h"
#include "daemon/capture/bpf_log.h"
#include "daemon/capture/map_array.h"
#include "ft_offcpu.skel.h"

namespace firetower::daemon {
namespace {

struct SkeletonDeleter {
  void operator()(ft_offcpu_bpf* skeleton) const { ft_offcpu_bpf__destroy(skeleton); }
};

class Programs : public WaitPrograms {
 public:
  ~Programs() override {
    if (own_ != nullptr) ::munmap(own_, sizeof(ft_offcpu_cpu) * cpu_count_);
  }

  Status Open(BpfSampler& sampler, const WaitOptions& options) {
    BpfLog log;
    object_.reset(ft_offcpu_bpf__open());
    if (!object_) return log.Failure("open the BPF object", errno);
    const ft_load_config config = sampler.load_config();
    std::memcpy(const_cast<ft_load_config*>(&object_->rodata->load_config), &config,
                sizeof(config));
    object_->data->offcpu_config.walk_ns =
        static_cast<uint64_t>(kNsPerSecond) / options.walks_per_second;
    cpu_count_ = sampler.cpu_count();
    max_waiting_ = options.max_waiting;
    bpf_map__set_max_entries(object_->maps.ft_offcpu_cpus, static_cast<uint32_t>(cpu_count_));
    bpf_map__set_max_entries(object_->maps.ft_waiting, options.max_waiting);
    RETURN_IF_ERROR(sampler.ShareMaps(object_->obj));
    if (int error = ft_offcpu_bpf__load(object_.get())) {
      return log.Failure("load the off-CPU programs", -error);
    }
    return MapArray(bpf_map__fd(object_->maps.ft_offcpu_cpus), sizeof(ft_offcpu_cpu) * cpu_count_,
                    "map the off-CPU programs' counters", own_);
  }

  Status Attach() override {
    if (int error = ft_offcpu_bpf__attach(object_.get())) {
      return ErrnoError("attach the off-CPU programs (tp_btf/sched_switch, sched_waking)", -error);
    }
    return OkStatus();
  }

  void Detach() override { ft_offcpu_bpf__detach(object_.get()); }

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
    for (uint32_t i = 0; i < count; ++i) found.push_back({tids[i], waits[i]});
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
    uint64_t bytes = 0;
    for (const bpf_map* map :
         {object_->maps.ft_waiting, object_->maps.ft_waiting_slots, object_->maps.ft_threads,
          object_->maps.ft_places, object_->maps.ft_offcpu_cpus, object_->maps.ft_scratch,
          object_->maps.ft_seen})
      bytes += MapMemory(bpf_map__fd(map));
    return bytes;
  }

 private:
  std::unique_ptr<ft_offcpu_bpf, SkeletonDeleter> object_;
  ft_offcpu_cpu* own_ = nullptr;  // by CPU
  size_t cpu_count_ = 0;
  uint32_t max_waiting_ = 0;
};

}  // namespace

Result<std::unique_ptr<WaitPrograms>> WaitPrograms::Load(BpfSampler& sampler,
                                                         const WaitOptions& options) {
  auto programs = std::make_unique<Programs>();
  RETURN_IF_ERROR(programs->Open(sampler, options));
  return std::unique_ptr<WaitPrograms>(std::move(programs));
}

}  // namespace firetower::daemon
