// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/capture/hierarchy.h"

namespace firetower::bench {

// The kernel's statistics of a program, counted while they were switched on.
struct RunTime {
  uint64_t ns = 0;
  uint64_t runs = 0;
};

// The samples of the load that arrived. A program that misses frames is not cheap but wrong.
struct Seen {
  uint64_t samples = 0;
  uint64_t of_load = 0;
  uint64_t of_load_at_depth = 0;  // at least as many user frames as the load has
  uint64_t of_load_at_root = 0;   // that end where the thread began
};

// A sampling program that is attached to every CPU for a while. The caller drains it.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual Status Attach(const std::vector<int>& cpus, uint32_t frequency_hz) = 0;
  virtual void Detach(const std::vector<int>& cpus) = 0;
  virtual void Drain() = 0;
  virtual RunTime run_time() const = 0;
  virtual Seen seen() const = 0;
};

// By what the sampler walks the load's stacks: without unwind tables it has to use frame pointers.
enum class WalkBy { kFramePointers, kTables };

// `load` is the process whose stacks have `frames` user frames.
struct Load {
  uint32_t pid = 0;
  uint32_t frames = 0;
};

Result<std::unique_ptr<Contender>> LoadFloorRing(const Load& load);
// The product's sampler as the daemon loads it, with the load's cgroup and some hundred others in
// its gate.
Result<std::unique_ptr<Contender>> LoadSampler(const Load& load,
                                               const daemon::ChosenHierarchy& hierarchy,
                                               WalkBy walk_by);

}  // namespace firetower::bench
