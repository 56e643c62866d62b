// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "bpf/abi/offcpu.h"
#include "daemon/capture/bpf_sampler.h"

namespace firetower::daemon {

struct WaitOptions {
  int64_t min_wait_ns = 1'000'000;   // shorter waits are not told
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
class WaitPrograms {
 public:
  // A thread that waits now.
  struct Waiting {
    uint32_t tid = 0;
    ft_waiting wait = {};
  };

  // `sampler` must outlive this. Errors name the failing program with the end of the verifier's
  // log, or the missing capability.
  static Result<std::unique_ptr<WaitPrograms>> Load(BpfSampler& sampler,
                                                    const WaitOptions& options);
  virtual ~WaitPrograms() = default;

  // Waits that begin from now on are told.
  virtual Status Attach() = 0;
  virtual void Detach() = 0;
  // Lists the waits that go on, of sampled threads of wanted cgroups.
  virtual std::vector<Waiting> WaitsThatGoOn() const = 0;
  virtual WaitCounters Counters() const = 0;
  // Kernel memory of the maps that are theirs alone.
  virtual uint64_t MapBytes() const = 0;
};

}  // namespace firetower::daemon
