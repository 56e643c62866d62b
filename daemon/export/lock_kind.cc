// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/lock_kind.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace firetower::daemon {
namespace {

constexpr std::string_view kNames[] = {
    "mutex",        "rwlock",        "monitor",   "condition",  "barrier",      "semaphore",
    "once",         "join",          "park",      "futex",      "kernel-mutex", "kernel-read",
    "kernel-write", "kernel-percpu", "kernel-rt", "kernel-lock"};

// Maps each FutexUse, in its order, to the kind that it tells by itself.
constexpr LockKind kKindOfUse[] = {
    LockKind::kFutex,        LockKind::kMutex,      LockKind::kFutex,
    LockKind::kKernelMutex,  LockKind::kKernelRead, LockKind::kKernelWrite,
    LockKind::kKernelPercpu, LockKind::kKernelRt,   LockKind::kKernelLock};
static_assert(std::size(kKindOfUse) == static_cast<size_t>(FutexUse::kKernelOther) + 1);
static_assert(std::size(kNames) == static_cast<size_t>(LockKind::kKernelLock) + 1);

struct Named {
  std::string_view part;  // of a function's name
  LockKind kind;
};
// The first that some function has counts: a runtime's park lies upon a condition variable, and
// that upon a mutex.
constexpr Named kParts[] = {
    {"ObjectMonitor::enter", LockKind::kMonitor},
    {"ObjectMonitor::wait", LockKind::kCondition},
    {"ObjectMonitor::", LockKind::kMonitor},
    {"Parker::park", LockKind::kPark},
    {"Unsafe_Park", LockKind::kPark},
    {"PlatformEvent::park", LockKind::kPark},
    {"runtime.notesleep", LockKind::kPark},
    {"runtime.notetsleep", LockKind::kPark},
    {"runtime.mPark", LockKind::kPark},
    {"runtime.stopm", LockKind::kPark},
    {"runtime.lock", LockKind::kMutex},
    {"runtime.futexsleep", LockKind::kPark},
    {"thread::park", LockKind::kPark},
    {"thread::Thread::park", LockKind::kPark},
    {"barrier_wait", LockKind::kBarrier},
    {"pthread_rwlock_", LockKind::kRwlock},
    {"RwLock", LockKind::kRwlock},
    {"pthread_cond_", LockKind::kCondition},
    {"Condvar", LockKind::kCondition},
    {"condition_variable", LockKind::kCondition},
    {"pthread_once", LockKind::kOnce},
    {"pthread_join", LockKind::kJoin},
    {"pthread_clockjoin", LockKind::kJoin},
    {"pthread_timedjoin", LockKind::kJoin},
    {"sem_wait", LockKind::kSemaphore},
    {"sem_timedwait", LockKind::kSemaphore},
    {"sem_clockwait", LockKind::kSemaphore},
    {"new_sem_wait", LockKind::kSemaphore},
    {"pthread_mutex_", LockKind::kMutex},
    {"lll_lock_wait", LockKind::kMutex},
    {"lll_mutex_lock", LockKind::kMutex},
    {"mtx_lock", LockKind::kMutex},
    {"mutex::Mutex::lock", LockKind::kMutex},
    {"mutex::futex::Mutex::lock", LockKind::kMutex},
};

bool Holds(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

}  // namespace

std::string_view LockKindName(LockKind kind) { return kNames[static_cast<size_t>(kind)]; }

bool IsHeld(LockKind kind) {
  return kind == LockKind::kMutex || kind == LockKind::kRwlock || kind == LockKind::kMonitor ||
         kind >= LockKind::kKernelMutex;
}

std::optional<LockKind> KindOfNames(std::span<const std::string> functions) {
  for (const Named& named : kParts) {
    if (std::ranges::any_of(functions,
                            [&](std::string_view name) { return Holds(name, named.part); }))
      return named.kind;
  }
  return std::nullopt;
}

LockKind KindOfUse(FutexUse use) { return kKindOfUse[static_cast<size_t>(use)]; }

}  // namespace firetower::daemon
