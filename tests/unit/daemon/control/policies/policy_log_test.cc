// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/policy_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NewEntries, IsWhatWasNotThereBefore) {
  NewEntries news;
  EXPECT_THAT(news.Take({"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(news.Take({"b", "a"}), IsEmpty());
  EXPECT_THAT(news.Take({"a", "c"}), ElementsAre("c"));
  EXPECT_THAT(news.Take({"b"}), ElementsAre("b")) << "it was gone for a while";
}

}  // namespace
}  // namespace firetower::daemon
