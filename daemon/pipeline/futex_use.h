// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bpf/abi/record.h"

namespace firetower::daemon {

// The use of a futex, as far as the system call and the words there say it.
enum class FutexUse : uint8_t {
  kNone,   // the thread waited for something else
  kMutex,  // a lock: its word is that of a mutex with waiters, or its operation is of one
  kOther,
};
FutexUse UseOf(const ft_futex& futex);

// Returns the thread that holds the mutex, as far as its words say it; 0: unknown. Their meaning is
// the C library's, so a caller must check that its process has that thread.
uint32_t HolderOf(const ft_futex& futex);

}  // namespace firetower::daemon
