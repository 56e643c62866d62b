// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/location_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profile/pprof.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::testing::ElementsAre;

std::string Name(int i) { return "function " + std::to_string(i); }

// One sample a function, and `more` of the functions in it once again below another leaf.
Profile ProfileWith(int functions, const std::vector<int>& more) {
  testing::StackBuilder builder;
  for (int i = 0; i < functions; ++i) builder.Add({Name(i)}, 1);
  for (const int i : more) builder.Add({Name(i), Name(0)}, 1);
  return builder.Build();
}

TEST(LocationOrder, OfFewIsTheirOwn) {
  EXPECT_THAT(LocationOrder(ProfileWith(4, {3})), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(LocationOrder(ProfileWith(0, {})), ElementsAre());
}

TEST(LocationOrder, PutsTheMostUsedWhereIdsAreOneByte) {
  const std::vector<uint32_t> order = LocationOrder(ProfileWith(300, {299, 200, 150}));
  ASSERT_EQ(order.size(), 300u);
  // 0, a leaf of three more, is one of the most used, too; 1 to 123 come along.
  for (uint32_t i = 0; i < 124; ++i) EXPECT_EQ(order[i], i);
  EXPECT_EQ(order[124], 150u);
  EXPECT_EQ(order[125], 200u);
  EXPECT_EQ(order[126], 299u);
  EXPECT_EQ(order[127], 124u);
  EXPECT_EQ(order[299], 298u);
}

TEST(LocationOrder, PutsTheNextWhereIdsAreTwoBytes) {
  const std::vector<uint32_t> order = LocationOrder(ProfileWith(17'000, {16'999}));
  EXPECT_EQ(order[126], 16'999u);
  EXPECT_EQ(order[127], 126u);
  EXPECT_EQ(order[16'999], 16'998u);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(),
                                  LocationOrder(ProfileWith(17'000, {})).begin()));
}

TEST(LocationOrder, IsThatOfTheIdsInAFile) {
  const Profile profile = ProfileWith(300, {299});
  const Profile read = *DecodePprof(EncodePprof(profile));
  // The most used have ids up to 127, so they come first when they are read.
  EXPECT_EQ(read.string(read.function(read.location(126).lines[0].function).name), Name(299));
}

}  // namespace
}  // namespace firetower::profile
