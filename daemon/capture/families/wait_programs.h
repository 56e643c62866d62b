// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "bpf/abi/offcpu.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/families/waiting_threads.h"

namespace firetower::daemon {

struct WaitOptions {
  uint32_t walks_per_second = 1000;  // of each CPU; above it switches are thinned
  uint32_t max_waiting = FT_WAITING_ENTRIES;
};

// Sums over CPUs since load.
struct WaitCounters {
  uint64_t value[FT_OFFCPU_COUNTER_MAX] = {};
  ft_counters counters = {};  // of their gate, walks and ring
};

// The off-CPU programs (bpf/offcpu.bpf.c), loaded. They write to the ring of the sampler, gate by
// its verdicts and walk by its tables. Any thread.
class WaitPrograms : public WaitingThreads {
 public:
  // `sampler` must outlive this. Errors name the failing program with the end of the verifier's
  // log, or the missing capability.
  static Result<std::unique_ptr<WaitPrograms>> Load(BpfSampler& sampler,
                                                    const WaitOptions& options);

  // Sets the shortest wait that any verdict asks for.
  virtual void SetShortest(int64_t wait_ns) = 0;
  // Waits that begin from now on are told.
  virtual Status Attach() = 0;
  // Tells waits for locks of the kernel's apart, or no more. kUnsupported: this kernel does not say
  // which they are, as before Linux 5.19.
  virtual Status TellKernelLocks(bool wanted) = 0;
  virtual void Detach() = 0;
  virtual WaitCounters Counters() const = 0;
  // Kernel memory of the maps that are theirs alone.
  virtual uint64_t MapBytes() const = 0;
};

}  // namespace firetower::daemon
