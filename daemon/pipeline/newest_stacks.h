// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "bpf/abi/record.h"

namespace firetower::daemon {

// The newest stack of each thread, sampled or blocked: where the holder of a lock was while others
// waited for it. Owned by the resolve thread. Holds kMax threads at most; beyond that all are
// forgotten.
class NewestStacks {
 public:
  static constexpr size_t kMax = 16384;

  struct Stack {
    uint64_t hash = 0;
    uint64_t time_ns = 0;
    uint32_t tgid = 0;
  };

  void Note(const ft_sample& sample) {
    if (of_.size() >= kMax && !of_.contains(sample.tid)) of_.clear();
    of_[sample.tid] = {sample.stack_hash, sample.time_ns, sample.tgid};
  }
  void Clear() { of_.clear(); }
  // Returns the stack of a thread if it is from `begin_ns` on; else nullptr.
  const Stack* Since(uint32_t tid, uint64_t begin_ns) const {
    const auto found = of_.find(tid);
    return found == of_.end() || found->second.time_ns < begin_ns ? nullptr : &found->second;
  }

 private:
  std::unordered_map<uint32_t, Stack> of_;
};

}  // namespace firetower::daemon
