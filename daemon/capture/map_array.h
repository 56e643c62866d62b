// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "base/result.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/record.h"

namespace firetower::daemon {

// Maps the values of an array map made with BPF_F_MMAPABLE into memory. If their size is a multiple
// of 8 bytes, they are contiguous (kernel/bpf/arraymap.c). The caller unmaps them. Fails as mmap
// does; `what` is part of the message.
template <typename T>
Status MapArray(int map_fd, size_t bytes, const char* what, T*& to) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
  if (at == MAP_FAILED) return ErrnoError(what);
  to = static_cast<T*>(at);
  return OkStatus();
}

// Reads a count that the kernel side changes meanwhile.
inline __u64 ReadShared(const __u64& count) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

// Adds one CPU's counters, which may change meanwhile, to a sum.
inline void AddCounters(const ft_counters& one, ft_counters& sum) {
  for (size_t i = 0; i < FT_COUNTER_MAX; ++i) sum.value[i] += ReadShared(one.value[i]);
  for (size_t i = 0; i < FT_STOP_COUNT; ++i) sum.stop[i] += ReadShared(one.stop[i]);
}

}  // namespace firetower::daemon
