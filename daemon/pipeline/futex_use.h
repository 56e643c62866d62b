// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bpf/abi/record.h"

namespace firetower::daemon {

// The use of a futex, as far as the system call and the words there say it; or the lock of the
// kernel's that is waited for.
enum class FutexUse : uint8_t {
  kNone,   // the thread waited for something else
  kMutex,  // a lock: its word is that of a mutex with waiters, or its operation is of one
  kOther,
  kKernelMutex,
  kKernelRead,    // a semaphore of readers and writers, to read
  kKernelWrite,   // the same, to write
  kKernelPercpu,  // the same with a count for each CPU
  kKernelRt,      // a mutex that lends its holder a priority
  kKernelOther,
};
// Tells whether it is a lock of the kernel's.
constexpr bool IsKernelLock(FutexUse use) { return use >= FutexUse::kKernelMutex; }
FutexUse UseOf(const ft_futex& futex);

// Returns the thread that holds the mutex, as far as its words say it; 0: unknown. Their meaning is
// the C library's, so a caller must check that its process has that thread.
uint32_t HolderOf(const ft_futex& futex);

}  // namespace firetower::daemon
