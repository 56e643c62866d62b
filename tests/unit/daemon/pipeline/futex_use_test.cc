// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/futex_use.h"

#include <gtest/gtest.h>
#include <linux/futex.h>

namespace firetower::daemon {
namespace {

ft_futex Futex(uint32_t op, uint32_t value, uint32_t first = 0, uint32_t third = 0) {
  ft_futex futex{};
  futex.address = 0x1000;
  futex.op = op;
  futex.value = value;
  futex.word[0] = first;
  futex.word[2] = third;
  futex.words = 1;
  return futex;
}

TEST(FutexUse, KnowsMutexesByTheirWord) {
  EXPECT_EQ(UseOf({}), FutexUse::kNone);
  EXPECT_EQ(UseOf(Futex(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2)), FutexUse::kMutex);
  EXPECT_EQ(UseOf(Futex(FUTEX_LOCK_PI, 0)), FutexUse::kMutex);
  EXPECT_EQ(UseOf(Futex(FUTEX_WAIT, 0x80000000u | 16)), FutexUse::kMutex) << "musl";
  EXPECT_EQ(UseOf(Futex(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0)), FutexUse::kOther);
  EXPECT_EQ(UseOf(Futex(FT_FUTEX_WAITV, 1)), FutexUse::kOther);
}

TEST(FutexUse, KnowsTheKernelsLocksByTheirFlags) {
  const auto use = [](uint32_t flags) { return UseOf(Futex(FT_FUTEX_KERNEL | flags, 0)); };
  EXPECT_EQ(use(FT_LOCK_MUTEX), FutexUse::kKernelMutex);
  EXPECT_EQ(use(FT_LOCK_MUTEX | FT_LOCK_SPIN), FutexUse::kKernelMutex);
  EXPECT_EQ(use(FT_LOCK_READ), FutexUse::kKernelRead);
  EXPECT_EQ(use(FT_LOCK_WRITE), FutexUse::kKernelWrite);
  EXPECT_EQ(use(FT_LOCK_PERCPU | FT_LOCK_WRITE), FutexUse::kKernelPercpu);
  EXPECT_EQ(use(FT_LOCK_RT), FutexUse::kKernelRt);
  EXPECT_EQ(use(0), FutexUse::kKernelOther);
  EXPECT_TRUE(IsKernelLock(use(0)));
  EXPECT_FALSE(IsKernelLock(FutexUse::kOther));
  EXPECT_EQ(HolderOf(Futex(FT_FUTEX_KERNEL | FT_LOCK_MUTEX, 2, 2, 77)), 0u);
}

TEST(FutexUse, FindsWhoHoldsIt) {
  EXPECT_EQ(HolderOf(Futex(FUTEX_WAIT, 2, 2, 77)), 77u) << "glibc's __owner";
  EXPECT_EQ(HolderOf(Futex(FUTEX_LOCK_PI, 0, FUTEX_WAITERS | 78)), 78u);
  EXPECT_EQ(HolderOf(Futex(FUTEX_WAIT, 0x80000000u | 79)), 79u);
  EXPECT_EQ(HolderOf(Futex(FUTEX_WAIT, 0x80000000u | 16)), 0u) << "of the normal type";
  EXPECT_EQ(HolderOf(Futex(FUTEX_WAIT, 0, 0, 77)), 0u) << "no mutex";
  ft_futex absent = Futex(FUTEX_WAIT, 2, 2, 77);
  absent.words = 0;
  EXPECT_EQ(HolderOf(absent), 0u);
}

}  // namespace
}  // namespace firetower::daemon
