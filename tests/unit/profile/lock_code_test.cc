// SPDX-License-Identifier: Apache-2.0
#include "profile/top/lock_code.h"

#include <gtest/gtest.h>

namespace firetower::profile {
namespace {

TEST(LockCode, IsTheLibrarysAndNotTheProgramsOwn) {
  EXPECT_TRUE(IsLockCode("pthread_mutex_lock", "app")) << "linked statically";
  EXPECT_TRUE(IsLockCode("anything", "libc.so.6"));
  EXPECT_TRUE(IsLockCode("anything", "ld-musl-x86_64.so.1"));
  EXPECT_FALSE(IsLockCode("take_lock", "app"));
  EXPECT_FALSE(IsLockCode("main", "app"));
}

}  // namespace
}  // namespace firetower::profile
