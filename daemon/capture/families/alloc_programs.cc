// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/families/alloc_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "bpf/abi/alloc.h"
#include "daemon/capture/bpf_log.h"
#include "daemon/capture/families/program_family.h"
#include "daemon/capture/families/uprobes.h"
#include "daemon/capture/map_array.h"
#include "ft_alloc.skel.h"

namespace firetower::daemon {
namespace {

// One program each.
constexpr SizeAt kSizes[] = {SizeAt::kMalloc, SizeAt::kFirst,   SizeAt::kSecond,
                             SizeAt::kThird,  SizeAt::kProduct, SizeAt::kLastProduct};

struct SkeletonDeleter {
  void operator()(ft_alloc_bpf* skeleton) const { ft_alloc_bpf__destroy(skeleton); }
};

class Programs : public AllocPrograms {
 public:
  ~Programs() override {
    if (own_ != nullptr) ::munmap(own_, sizeof(ft_alloc_cpu) * cpu_count_);
  }

  Status Open(BpfSampler& sampler, const std::string& sys_root) {
    ASSIGN_OR_RETURN(uprobes_, Uprobes::Find(sys_root));
    BpfLog log;
    object_.reset(ft_alloc_bpf__open());
    if (!object_) return log.Failure("open the BPF object", errno);
    cpu_count_ = sampler.cpu_count();
    // Free entries lie in lists of each CPU.
    bpf_map__set_max_entries(object_->maps.ft_entered, static_cast<uint32_t>(4 * cpu_count_));
    for (const SizeAt size : kSizes) uprobes_.Prepare(ProgramFor(size));
    uprobes_.Prepare(object_->progs.ft_frees);
    uprobes_.Prepare(object_->progs.ft_alloc_returns);
    RETURN_IF_ERROR(LoadFamily(sampler, log, *object_, ft_alloc_bpf__load,
                               object_->maps.ft_alloc_cpus, "the programs of allocations", own_));
    return uprobes_.Check(bpf_program__fd(object_->progs.ft_malloc));
  }

  Status AddProcess(uint32_t pid, const Wish& wish) override {
    ft_heap heap{};
    heap.sample_bytes = static_cast<uint64_t>(wish.sample_bytes);
    if (wish.in_use) heap.live = ++last_live_;
    if (bpf_map_update_elem(HeapsFd(), &pid, &heap, BPF_ANY) == 0) return OkStatus();
    if (errno == E2BIG)
      return Error(ErrorCode::kExhausted,
                   fmt::format("the allocations of {} processes are sampled already", FT_HEAPS));
    return ErrnoError(fmt::format("sample the allocations of process {}", pid));
  }

  void RemoveProcess(uint32_t pid) override {
    ft_heap heap{};
    if (bpf_map_lookup_elem(HeapsFd(), &pid, &heap) == 0 && heap.live != 0)
      removed_.insert(heap.live);
    bpf_map_delete_elem(HeapsFd(), &pid);
  }

  size_t ForgetRemoved() override {
    if (removed_.empty()) return 0;
    const int live = bpf_map__fd(object_->maps.ft_live);
    // A key that is deleted would begin the iteration anew.
    std::vector<ft_live_key> keys;
    ft_live_key key{};
    for (const ft_live_key* last = nullptr; bpf_map_get_next_key(live, last, &key) == 0;
         last = &key) {
      if (removed_.contains(key.heap)) keys.push_back(key);
    }
    for (const ft_live_key& one : keys) bpf_map_delete_elem(live, &one);
    removed_.clear();
    return keys.size();
  }

  Result<std::vector<UniqueFd>> Probe(uint32_t pid, int file_fd,
                                      std::span<const AllocatorFunction> functions,
                                      bool in_use) override {
    const std::string path = fmt::format("/proc/self/fd/{}", file_fd);
    std::vector<UniqueFd> probes;
    const auto attach = [&](bpf_program* program, Uprobes::At at, const auto& is_probed) {
      std::vector<uint64_t> offsets;
      for (const AllocatorFunction& function : functions)
        if (is_probed(function.size)) offsets.push_back(function.file_offset);
      if (offsets.empty()) return OkStatus();
      return uprobes_.Attach(pid, path, bpf_program__fd(program), at, offsets, probes);
    };
    // First what ends an allocation, so that none begins whose end is not seen.
    if (in_use) {
      RETURN_IF_ERROR(attach(object_->progs.ft_frees, Uprobes::At::kEntry,
                             [](SizeAt size) { return size == SizeAt::kNone; }));
      RETURN_IF_ERROR(attach(object_->progs.ft_alloc_returns, Uprobes::At::kReturn,
                             [](SizeAt size) { return size != SizeAt::kNone; }));
    }
    for (const SizeAt of : kSizes) {
      RETURN_IF_ERROR(
          attach(ProgramFor(of), Uprobes::At::kEntry, [of](SizeAt size) { return size == of; }));
    }
    return probes;
  }

  uint64_t Calls(uint32_t pid) const override {
    ft_heap heap{};
    return bpf_map_lookup_elem(HeapsFd(), &pid, &heap) == 0 ? heap.calls : 0;
  }

  AllocCounters Counters() const override {
    AllocCounters sum;
    for (const ft_alloc_cpu& cpu : std::span(own_, cpu_count_)) {
      sum.missed += ReadShared(cpu.missed);
      AddCounters(cpu.counters, sum.counters);
    }
    return sum;
  }

  uint64_t MapBytes() const override {
    return MapMemory({object_->maps.ft_heaps, object_->maps.ft_outer_calls,
                      object_->maps.ft_entered, object_->maps.ft_alloc_cpus, object_->maps.ft_live,
                      object_->maps.ft_awaited_calls, object_->maps.ft_scratch,
                      object_->maps.ft_seen, object_->maps.ft_chain, object_->maps.ft_functions,
                      object_->maps.ft_python_threads});
  }

 private:
  int HeapsFd() const { return bpf_map__fd(object_->maps.ft_heaps); }

  bpf_program* ProgramFor(SizeAt size) const {
    switch (size) {
      case SizeAt::kNone:
        return object_->progs.ft_frees;
      case SizeAt::kMalloc:
        return object_->progs.ft_malloc;
      case SizeAt::kFirst:
        return object_->progs.ft_alloc_first;
      case SizeAt::kSecond:
        return object_->progs.ft_alloc_second;
      case SizeAt::kThird:
        return object_->progs.ft_alloc_third;
      case SizeAt::kProduct:
        return object_->progs.ft_alloc_product;
      case SizeAt::kLastProduct:
        return object_->progs.ft_alloc_last_product;
    }
    return nullptr;
  }

  Uprobes uprobes_;
  uint32_t last_live_ = 0;      // ft_heap's
  std::set<uint32_t> removed_;  // likewise, of processes that are not sampled any more
  std::unique_ptr<ft_alloc_bpf, SkeletonDeleter> object_;
  ft_alloc_cpu* own_ = nullptr;  // by CPU
  size_t cpu_count_ = 0;
};

}  // namespace

Result<std::unique_ptr<AllocPrograms>> AllocPrograms::Load(BpfSampler& sampler,
                                                           const std::string& sys_root) {
  auto programs = std::make_unique<Programs>();
  RETURN_IF_ERROR(programs->Open(sampler, sys_root));
  return std::unique_ptr<AllocPrograms>(std::move(programs));
}

}  // namespace firetower::daemon
