// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/lock_kind.h"

#include <gtest/gtest.h>

#include <vector>

namespace firetower::daemon {
namespace {

std::string KindName(const std::vector<std::string>& functions) {
  const std::optional<LockKind> kind = KindOfNames(functions);
  return kind ? std::string(LockKindName(*kind)) : "";
}

TEST(LockKind, IsToldByTheFunctionsThatWait) {
  EXPECT_EQ(KindName({"__lll_lock_wait", "pthread_mutex_lock", "takes"}), "mutex");
  EXPECT_EQ(KindName({"__futex_abstimed_wait_common", "pthread_rwlock_rdlock", "reads"}), "rwlock");
  EXPECT_EQ(KindName({"__futex_abstimed_wait_common64", "pthread_cond_wait", "consumes"}),
            "condition");
  EXPECT_EQ(KindName({"futex_wait", "pthread_barrier_wait"}), "barrier");
  EXPECT_EQ(KindName({"__futex_abstimed_wait_common", "__new_sem_wait_slow64", "sem_wait"}),
            "semaphore");
  EXPECT_EQ(KindName({"__pthread_clockjoin_ex", "main"}), "join");
  EXPECT_EQ(KindName({"", "main"}), "");
}

TEST(LockKind, OfARuntimesOwnSchedulerIsAPark) {
  EXPECT_EQ(KindName({"__futex_abstimed_wait_common", "pthread_cond_wait", "Parker::park",
                      "Unsafe_Park"}),
            "park");
  EXPECT_EQ(KindName({"runtime.futex", "runtime.futexsleep", "runtime.notesleep", "runtime.mPark"}),
            "park");
  EXPECT_EQ(KindName({"runtime.futex", "runtime.futexsleep", "runtime.lock2"}), "mutex");
  EXPECT_EQ(KindName({"pthread_cond_wait", "PlatformEvent::park", "ObjectMonitor::enter"}),
            "monitor");
  EXPECT_EQ(KindName({"pthread_cond_wait", "PlatformEvent::park", "ObjectMonitor::wait"}),
            "condition");
}

TEST(LockKind, IsHeldOnlyIfItIsALock) {
  EXPECT_TRUE(IsHeld(LockKind::kMutex));
  EXPECT_TRUE(IsHeld(LockKind::kMonitor));
  EXPECT_FALSE(IsHeld(LockKind::kPark)) << "an idle thread waits for no lock";
  EXPECT_FALSE(IsHeld(LockKind::kCondition));
  EXPECT_EQ(KindOfUse(FutexUse::kMutex), LockKind::kMutex);
  EXPECT_EQ(KindOfUse(FutexUse::kOther), LockKind::kFutex);
  EXPECT_EQ(LockKindName(KindOfUse(FutexUse::kKernelWrite)), "kernel-write");
  EXPECT_EQ(LockKindName(KindOfUse(FutexUse::kKernelOther)), "kernel-lock");
  EXPECT_TRUE(IsHeld(LockKind::kKernelRead));
}

}  // namespace
}  // namespace firetower::daemon
