// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/container/flat_map.h"
#include "base/hash.h"
#include "bpf/abi/trace.h"

namespace firetower::daemon {

// The traces of samples, which come before them in the ring: in the same round or in the one
// before.
class SampleTraces {
 public:
  // Adds those of a new round, and forgets those of the last one but one.
  void BeginRound(std::span<const ft_trace> traces) {
    before_.Clear();
    std::swap(before_, now_);
    for (const ft_trace& trace : traces) {
      bool inserted = false;
      now_.Insert(KeyOf(trace.time_ns, trace.tid), &inserted) = trace;
    }
  }
  // Returns that of a sample; null: it has none, or that found no room in the ring.
  const ft_trace_ids* Find(const ft_sample& sample) const {
    if ((sample.flags & FT_SAMPLE_TRACED) == 0) return nullptr;
    const uint64_t key = KeyOf(sample.time_ns, sample.tid);
    for (const FlatMap<ft_trace>* round : {&now_, &before_}) {
      const ft_trace* trace = round->Find(key);
      if (trace != nullptr && trace->time_ns == sample.time_ns && trace->tid == sample.tid)
        return &trace->ids;
    }
    return nullptr;
  }

 private:
  static uint64_t KeyOf(uint64_t time_ns, uint32_t tid) {
    return HashWord(HashWord(kHashSeed, time_ns), tid);
  }

  FlatMap<ft_trace> now_, before_;
};

}  // namespace firetower::daemon
