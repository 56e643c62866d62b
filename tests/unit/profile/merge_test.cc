// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/export.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

TEST(Merge, AddsUpStacksByName) {
  Profile a = StackBuilder().Add({"main", "x"}, 1).Add({"main", "y"}, 2).Build();
  Profile b = StackBuilder().Add({"main", "y"}, 3).Add({"main", "z"}, 4).Build();
  const Profile* both[] = {&a, &b};
  auto sum = Merge(both);
  ASSERT_TRUE(sum);
  EXPECT_EQ(ToFolded(*sum, 0), "main;x 1\nmain;y 5\nmain;z 4\n");
}

TEST(Merge, SpansFromTheFirstStartToTheLastEnd) {
  Profile late = StackBuilder(1'000 * kSecond).Add({"main"}, 1).Build();
  Profile early = StackBuilder(700 * kSecond).Add({"main"}, 1).Build();
  const Profile* both[] = {&late, &early};
  auto sum = Merge(both);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->meta().time_nanos, 700 * kSecond);
  EXPECT_EQ(sum->meta().duration_nanos, 360 * kSecond);
}

// Two processes map one library at addresses of their own (ASLR).
Profile WithLibraryAt(uint64_t start) {
  ProfileBuilder builder(CpuMeta(100, 0, kSecond));
  uint32_t lib = builder.AddMapping({.memory_start = start,
                                     .memory_limit = start + 0x10000,
                                     .file_offset = 0x1000,
                                     .filename = builder.AddString("/lib/x.so"),
                                     .build_id = builder.AddString("b1d")});
  uint32_t leaf = builder.AddLocation(lib, start + 0x42, {});
  int64_t one[] = {1, 10};
  builder.AddSample({&leaf, 1}, one);
  return std::move(builder).Build();
}

TEST(Merge, FoldsALibraryMappedAtTwoAddresses) {
  Profile a = WithLibraryAt(0x7f0000000000);
  Profile b = WithLibraryAt(0x7e1230000000);
  const Profile* both[] = {&a, &b};
  auto sum = Merge(both);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->mapping_count(), 1u);
  ASSERT_EQ(sum->sample_count(), 1u);
  EXPECT_THAT(sum->sample(0).values, ElementsAre(2, 20));
  EXPECT_EQ(ToFolded(*sum, 0), "[x.so]+0x1042 2\n");
}

TEST(Merge, NamesBothSidesOfATypeMismatch) {
  Profile cpu = StackBuilder().Add({"main"}, 1).Build();
  Meta meta;
  meta.sample_types = {{"contentions", "count"}, {"delay", "nanoseconds"}};
  Profile lock = ProfileBuilder(meta).Build();
  Merger merger;
  ASSERT_TRUE(merger.Add(cpu));
  Status status = merger.Add(lock);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(status.error().message(), HasSubstr("samples/count cpu/nanoseconds"));
  EXPECT_THAT(status.error().message(), HasSubstr("contentions/count delay/nanoseconds"));
  EXPECT_EQ(merger.count(), 1u);
  EXPECT_EQ(std::move(merger).Finish().Total(0), 1);
}

TEST(Merge, StopsAtItsLimit) {
  Profile a = StackBuilder().Add({"main", "x"}, 1).Add({"main", "y"}, 2).Build();
  Merger merger({.max_samples = 1});
  Status status = merger.Add(a);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kExhausted);
}

TEST(Merge, KeepsDistinctComments) {
  Profile parts[3];
  for (int i = 0; i < 3; ++i) {
    StackBuilder stacks;
    stacks.builder().meta().comments = {"agent 0.1", "pod p" + std::to_string(i % 2)};
    parts[i] = stacks.Build();
  }
  const Profile* all[] = {&parts[0], &parts[1], &parts[2]};
  auto sum = Merge(all);
  ASSERT_TRUE(sum);
  EXPECT_THAT(sum->meta().comments, ElementsAre("agent 0.1", "pod p0", "pod p1"));
}

TEST(Merge, OfNothingIsEmpty) { EXPECT_EQ(Merger().Finish().sample_count(), 0u); }

}  // namespace
}  // namespace firetower::profile
