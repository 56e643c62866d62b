// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/futex_use.h"

#include <linux/futex.h>

namespace firetower::daemon {
namespace {

// glibc's and others' mutexes: 0 is free, 1 locked, 2 locked with waiters (nptl/lowlevellock.h).
constexpr uint32_t kLockedWithWaiters = 2;
// musl's mutexes have the holder in the low bits and this one while there are waiters
// (src/thread/pthread_mutex_timedlock.c).
constexpr uint32_t kMuslWaiters = 0x80000000;
// The second word behind the futex of a pthread_mutex_t of glibc is its __owner
// (sysdeps/nptl/bits/struct_mutex.h).
constexpr uint32_t kOwnerWord = 2;
// musl notes no holder in a mutex of the normal type, but this number (EBUSY).
constexpr uint32_t kMuslNormal = 16;

// FUTEX_LOCK_PI2, from Linux 5.14.
constexpr uint32_t kLockPi2 = 13;

bool IsPriorityInheriting(uint32_t op) {
  const uint32_t command = op & static_cast<uint32_t>(FUTEX_CMD_MASK);
  return (op & FT_FUTEX_WAITV) == 0 && (command == FUTEX_LOCK_PI || command == kLockPi2);
}

FutexUse KernelLockOf(uint32_t flags) {
  if ((flags & FT_LOCK_PERCPU) != 0) return FutexUse::kKernelPercpu;
  if ((flags & FT_LOCK_RT) != 0) return FutexUse::kKernelRt;
  if ((flags & FT_LOCK_MUTEX) != 0) return FutexUse::kKernelMutex;
  if ((flags & FT_LOCK_READ) != 0) return FutexUse::kKernelRead;
  if ((flags & FT_LOCK_WRITE) != 0) return FutexUse::kKernelWrite;
  return FutexUse::kKernelOther;
}

}  // namespace

FutexUse UseOf(const ft_futex& futex) {
  if (futex.address == 0) return FutexUse::kNone;
  if ((futex.op & FT_FUTEX_KERNEL) != 0) return KernelLockOf(futex.op);
  const bool mutex = IsPriorityInheriting(futex.op) || futex.value == kLockedWithWaiters ||
                     (futex.value & kMuslWaiters) != 0;
  return mutex ? FutexUse::kMutex : FutexUse::kOther;
}

uint32_t HolderOf(const ft_futex& futex) {
  if (futex.words == 0 || UseOf(futex) != FutexUse::kMutex) return 0;
  if (IsPriorityInheriting(futex.op)) return futex.word[0] & FUTEX_TID_MASK;
  if ((futex.value & kMuslWaiters) != 0) {
    const uint32_t holder = futex.value & FUTEX_TID_MASK;
    return holder == kMuslNormal ? 0 : holder;
  }
  return futex.word[kOwnerWord];
}

}  // namespace firetower::daemon
