// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "daemon/capture/hierarchy.h"
#include "daemon/capture/unwind_memory.h"

struct bpf_object;

namespace firetower::daemon {

struct SamplerOptions {
  ChosenHierarchy hierarchy;
  bool user_reads = true;
  size_t ring_bytes = 2u << 20;  // a power of two, at least 128 KiB
  uint32_t frequency_hz = 97;
};

// The loaded kernel side: the on-CPU sampler and the cgroup programs with their maps. No program
// runs before AttachCpu and AttachCgroups. Any thread may call any function except Drain, which
// belongs to the reader.
class BpfSampler {
 public:
  // Loads the programs. Errors name the failing program with the end of the verifier's log, or the
  // missing capability.
  static Result<std::unique_ptr<BpfSampler>> Load(const SamplerOptions& options);
  virtual ~BpfSampler() = default;

  // Starts the stream of cgroup births, deaths and renames.
  virtual Status AttachCgroups() = 0;
  // Starts to sample one CPU. DetachCpu also works for a CPU that is gone.
  virtual Status AttachCpu(int cpu) = 0;
  virtual void DetachCpu(int cpu) = 0;
  // Changes the rate of every CPU, and of CPUs that are attached later.
  virtual Status SetFrequency(uint32_t frequency_hz) = 0;

  // This descriptor becomes readable when enough data waits in the ring.
  virtual int ring_fd() const = 0;

  class Sink {
   public:
    virtual ~Sink() = default;
    // Receives one record of bpf/abi/record.h. The bytes are valid during the call.
    virtual void OnRecord(std::span<const std::byte> record) noexcept = 0;
  };
  // Passes all waiting records of the ring to `sink`.
  virtual void Drain(Sink& sink) = 0;

  virtual void SetEpoch(uint32_t epoch) = 0;
  virtual void SetFallback(const ft_verdicts& verdicts) = 0;
  virtual Status SetVerdicts(uint64_t cgroup_id, const ft_verdicts& verdicts) = 0;
  // Changes the verdicts on a cgroup that has some; newborn cgroups get theirs in the kernel.
  // kNotFound if it has none (any more), so that removed cgroups do not come back.
  virtual Status ChangeVerdicts(uint64_t cgroup_id, const ft_verdicts& verdicts) = 0;
  virtual void RemoveVerdicts(uint64_t cgroup_id) = 0;

  // The verdicts on tasks and the sets of CPUs for cgroups that are sampled only in part. Called on
  // the resolve thread. A verdict on a task counts as long as its version is the one set last.
  virtual void SetTasksVersion(uint32_t version) = 0;
  virtual void SetTask(const ft_task& verdict) = 0;
  virtual void ForgetTask(uint32_t tid) = 0;
  // Sets a set of CPUs. `index` is 1 to FT_CPU_SETS - 1, and no verdict may name it yet.
  virtual void SetCpuSet(uint32_t index, const ft_cpu_set& cpus) = 0;

  // The memory that the kernel side reads to walk user stacks. Used by the resolve thread.
  virtual UnwindMemory& unwind_memory() = 0;

  // Returns the counters summed over all CPUs since load.
  virtual ft_counters Counters() const = 0;
  struct Counted {
    // The time for which the attached events have counted on their CPUs, idle time included.
    // Divided by the period it gives the expected number of ticks.
    uint64_t ns = 0;
    // The number of times that the period changed, or a CPU came or went. Two counts can be
    // compared only if this is equal.
    uint64_t changes = 0;
  };
  virtual Counted CountedTime() const = 0;
  // Other families of programs load with this and share it: the configuration, the number of
  // possible CPUs, and the descriptor of a map of that name; -1 for one that each family has for
  // itself. ShareMaps makes an opened object use the shared ones.
  virtual ft_load_config load_config() const = 0;
  virtual size_t cpu_count() const = 0;
  virtual int SharedMap(std::string_view name) const = 0;
  Status ShareMaps(bpf_object* object) const;
  // Kernel memory of all maps, as the kernel accounts it.
  virtual uint64_t MapBytes() const = 0;
  // Returns the number of instructions that the verifier processed for the sampler; 0 before Linux
  // 5.16.
  virtual uint32_t VerifiedInstructions() const = 0;
};

// Kernel memory of one map, in bytes; 0 where the kernel does not say.
uint64_t MapMemory(int map_fd);

}  // namespace firetower::daemon
