// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/pipeline/futex_use.h"

namespace firetower::daemon {

// The things that threads wait for in futex(2), and locks of the kernel's.
enum class LockKind : uint8_t {
  kMutex,
  kRwlock,
  kMonitor,    // of a Java object
  kCondition,  // a condition variable
  kBarrier,
  kSemaphore,
  kOnce,   // another thread's pthread_once
  kJoin,   // another thread's end
  kPark,   // a runtime's own scheduler put the thread to rest: Go, Java, Rust
  kFutex,  // not known
  kKernelMutex,
  kKernelRead,
  kKernelWrite,
  kKernelPercpu,
  kKernelRt,
  kKernelLock,  // of another kind
};

// Returns "mutex", "condition", …
std::string_view LockKindName(LockKind kind);

// Tells whether another thread has the thing while one waits for it: a lock. Who waits for a
// condition, or is parked, may just have nothing to do.
bool IsHeld(LockKind kind);

// Returns the kind by the names of the functions that wait, innermost first; unset if none of them
// says it. Names are those of glibc, musl, libstdc++, HotSpot, Go and Rust.
std::optional<LockKind> KindOfNames(std::span<const std::string> functions);

// The same by the use of the futex.
LockKind KindOfUse(FutexUse use);

}  // namespace firetower::daemon
