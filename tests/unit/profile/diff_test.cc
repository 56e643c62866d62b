// SPDX-License-Identifier: Apache-2.0
#include "profile/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "profile/export.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Profile Before() {
  return StackBuilder(1000).Add({"main", "a"}, 10).Add({"main", "gone"}, 5).Build();
}
Profile After() {
  return StackBuilder(2000).Add({"main", "a"}, 4).Add({"main", "new"}, 26).Build();
}

TEST(Diff, NegatesAndLabelsWhatWasBefore) {
  auto diff = Diff(Before(), After());
  ASSERT_TRUE(diff) << diff.error().message();
  EXPECT_TRUE(IsDiff(*diff));
  EXPECT_FALSE(IsDiff(After()));
  EXPECT_EQ(diff->Total(0), 30 - 15);
  EXPECT_EQ(diff->meta(), After().meta());
  for (uint32_t i = 0; i < diff->sample_count(); ++i) {
    Sample sample = diff->sample(i);
    EXPECT_EQ(IsBaseSample(*diff, sample), sample.values[0] < 0);
  }
  EXPECT_EQ(ToFolded(*diff, 0), "main;a -6\nmain;gone -5\nmain;new 26\n");
}

TEST(Diff, NormalizesToTheSameTotalExactly) {
  StackBuilder many;
  for (int i = 1; i <= 97; ++i) many.Add({"main", "f" + std::to_string(i)}, i * 31 + 7);
  const Profile before = many.Build();
  const Profile after = After();
  auto diff = Diff(before, after, {.normalize = true});
  ASSERT_TRUE(diff) << diff.error().message();
  for (uint32_t value = 0; value < 2; ++value) {
    EXPECT_EQ(diff->Total(value), 0);
    const double scale =
        static_cast<double>(after.Total(value)) / static_cast<double>(before.Total(value));
    for (uint32_t i = 0; i < diff->sample_count(); ++i) {
      Sample sample = diff->sample(i);
      if (!IsBaseSample(*diff, sample)) continue;
      // The names tell which sample of `before` it was.
      std::string name = diff->FrameName(diff->location(sample.locations[0]), 0);
      const int64_t was =
          (int64_t{std::stoi(name.substr(1))} * 31 + 7) * (value == 0 ? 1 : 10'000'000);
      EXPECT_NEAR(static_cast<double>(-sample.values[value]), static_cast<double>(was) * scale,
                  1.0);
    }
  }
}

TEST(Diff, RefusesWhatCannotBeCompared) {
  Meta meta;
  meta.sample_types = {{"contentions", "count"}, {"delay", "nanoseconds"}};
  Profile lock = ProfileBuilder(meta).Build();
  auto types = Diff(lock, After());
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(types.error().message(),
              HasSubstr("contentions/count delay/nanoseconds and samples"));
  auto diff = Diff(Before(), After());
  ASSERT_TRUE(diff);
  auto twice = Diff(*diff, After());
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message(), HasSubstr("pprof::base"));
  auto negative = Diff(StackBuilder().Add({"main"}, -3).Build(), After(), {.normalize = true});
  ASSERT_FALSE(negative);
  EXPECT_THAT(negative.error().message(), HasSubstr("negative"));
}

Profile OneValue(int64_t value) {
  Meta meta;
  meta.sample_types = {{"events", "count"}};
  ProfileBuilder builder(meta);
  Line line{.function = builder.AddFunction("main", "main", "")};
  uint32_t leaf = builder.AddLocation(kNoMapping, 0, {&line, 1});
  builder.AddSample({&leaf, 1}, {&value, 1});
  return std::move(builder).Build();
}

TEST(Diff, IsExactToTheEndOfTheRangeAndNoFurther) {
  auto widest = Diff(OneValue(kMost), OneValue(0));
  ASSERT_TRUE(widest) << widest.error().message();
  EXPECT_EQ(widest->Total(0), -kMost);
  EXPECT_EQ(TabulateDiff(*widest, 0).rows.at(0).self_delta(), -kMost);
  for (auto [before, after] : {std::pair<int64_t, int64_t>{kMost, 1},
                               {1, kMost},
                               {-kMost, 1},
                               {std::numeric_limits<int64_t>::min(), 0},
                               {0, std::numeric_limits<int64_t>::min()}}) {
    auto diff = Diff(OneValue(before), OneValue(after));
    ASSERT_FALSE(diff) << before << " " << after;
    EXPECT_EQ(diff.error().code(), ErrorCode::kExhausted);
    EXPECT_THAT(diff.error().message(), HasSubstr("events/count"));
  }
  EXPECT_FALSE(Diff(OneValue(1), OneValue(kMost), {.normalize = true}));
  EXPECT_TRUE(Diff(OneValue(kMost), OneValue(3), {.normalize = true}).error().code() ==
              ErrorCode::kExhausted);
}

TEST(DiffTable, ListsFunctionsByTheirChange) {
  auto diff = Diff(Before(), After());
  ASSERT_TRUE(diff);
  DiffTable table = TabulateDiff(*diff, 0);
  EXPECT_EQ(table.before, 15);
  EXPECT_EQ(table.after, 30);
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0].function, "new");
  EXPECT_EQ(table.rows[0].self_delta(), 26);
  EXPECT_NEAR(table.rows[0].share, 100.0 * 26 / 15, 1e-9);
  EXPECT_EQ(table.rows[1].function, "a");
  EXPECT_EQ(table.rows[1].before_self, 10);
  EXPECT_EQ(table.rows[1].after_self, 4);
  EXPECT_NEAR(table.rows[1].share, -40, 1e-9);
  EXPECT_EQ(table.rows[2].function, "gone");
  EXPECT_EQ(table.rows[3].function, "main");
  EXPECT_EQ(table.rows[3].self_delta(), 0);
  EXPECT_EQ(table.rows[3].total_delta(), 15);
  EXPECT_EQ(table.rows[3].mapping, "/usr/bin/app");
}

TEST(DiffTable, SharesAreOfWhatThereIs) {
  auto from_nothing = Diff(StackBuilder().Build(), After());
  ASSERT_TRUE(from_nothing);
  EXPECT_NEAR(TabulateDiff(*from_nothing, 0).rows[0].share, 100.0 * 26 / 30, 1e-9);
  auto nothing = Diff(StackBuilder().Build(), StackBuilder().Build());
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(TabulateDiff(*nothing, 0).rows.empty());
}

}  // namespace
}  // namespace firetower::profile
