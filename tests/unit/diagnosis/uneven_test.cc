// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/uneven.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::diagnosis {
namespace {

using ::testing::HasSubstr;

TEST(FindUneven, NamesThePodThatIsBusierThanItsTwins) {
  const auto finding =
      FindUneven("shop/checkout", {{"a", 10}, {"b", 11}, {"c", 9}, {"d", 50}}, 100);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->signature, "uneven-pods");
  EXPECT_THAT(finding->cause, HasSubstr("pod d of shop/checkout uses 5.0 times"));
  EXPECT_DOUBLE_EQ(finding->percent, 50);
  EXPECT_DOUBLE_EQ(finding->confidence, 0.8);
}

TEST(FindUneven, IsSilentOfEvenFewOrIdlePods) {
  EXPECT_FALSE(FindUneven("w", {{"a", 10}, {"b", 12}, {"c", 19}}, 100));
  EXPECT_FALSE(FindUneven("w", {{"a", 10}, {"b", 90}}, 100)) << "two pods have no median";
  EXPECT_FALSE(FindUneven("w", {{"a", 0}, {"b", 0}, {"c", 9}}, 100)) << "the others are idle";
  EXPECT_FALSE(FindUneven("w", {{"a", 1}, {"b", 1}, {"c", 3}}, 1000)) << "too little to matter";
  EXPECT_FALSE(FindUneven("w", {}, 0));
}

}  // namespace
}  // namespace firetower::diagnosis
