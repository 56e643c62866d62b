// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/capture/bpf_sampler.h"

namespace firetower::daemon {

// The argument by which a function of an allocator is told how much to allocate.
enum class SizeAt : uint8_t {
  kNone,         // it allocates nothing: it frees its first argument
  kMalloc,       // the first argument, and it calls no other function of its allocator
  kFirst,        // the first argument: valloc, operator new
  kSecond,       // the second: realloc, aligned_alloc
  kThird,        // the third: posix_memalign
  kProduct,      // the first two, to be multiplied: calloc
  kLastProduct,  // the second and third, to be multiplied: reallocarray
};

struct AllocatorFunction {
  SizeAt size = SizeAt::kMalloc;
  uint64_t file_offset = 0;  // of its first instruction

  bool operator==(const AllocatorFunction&) const = default;
};

// Sums over CPUs since load.
struct AllocCounters {
  ft_counters counters = {};
  uint64_t missed = 0;  // samples that found another one's half taken on their CPU
};

// The programs that sample allocations (bpf/alloc.bpf.c), loaded. They write to the ring of the
// sampler, gate by its verdicts and walk by its tables. One thread; Counters and MapBytes any.
class AllocPrograms {
 public:
  // `sampler` must outlive this. kNotFound: this kernel has no uprobes. kPermission: it sets
  // them for CAP_SYS_ADMIN alone. Other errors name the failing program with the end of the
  // verifier's log, or the missing capability.
  static Result<std::unique_ptr<AllocPrograms>> Load(BpfSampler& sampler,
                                                     const std::string& sys_root);
  virtual ~AllocPrograms() = default;

  // How the allocations of a process are sampled.
  struct Wish {
    int64_t sample_bytes = 0;  // one of so many (at least 1) is a sample, on average
    bool in_use = false;       // and when each of these is freed
    bool operator==(const Wish&) const = default;
  };
  // Samples the allocations of a process, as soon as it has probes. kExhausted: FT_HEAPS processes
  // are sampled already.
  virtual Status AddProcess(uint32_t pid, const Wish& wish) = 0;
  virtual void RemoveProcess(uint32_t pid) = 0;
  // Forgets the allocations in use of processes that were removed since the last call, whose room
  // others need. Goes once over all that are followed. Returns how many it forgot.
  virtual size_t ForgetRemoved() = 0;
  // Probes functions of an open file, in that process alone and for as long as the results are
  // open; with `in_use` also their returns, and those that free. Fails with the first function that
  // cannot be probed, and then none is.
  virtual Result<std::vector<UniqueFd>> Probe(uint32_t pid, int file_fd,
                                              std::span<const AllocatorFunction> functions,
                                              bool in_use) = 0;
  // Returns the number of breakpoints that a process met since AddProcess: calls, and returns.
  virtual uint64_t Calls(uint32_t pid) const = 0;
  virtual AllocCounters Counters() const = 0;
  // Kernel memory of the maps that are theirs alone.
  virtual uint64_t MapBytes() const = 0;
};

}  // namespace firetower::daemon
