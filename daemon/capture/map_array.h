// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "base/result.h"

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

}  // namespace firetower::daemon
