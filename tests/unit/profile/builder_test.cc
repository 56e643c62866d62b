// SPDX-License-Identifier: Apache-2.0
#include "profile/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;

TEST(ProfileBuilder, AddsUpEqualStacks) {
  StackBuilder stacks;
  stacks.Add({"main", "serve"}, 2).Add({"main"}, 1).Add({"main", "serve"}, 3);
  Profile profile = stacks.Build();
  ASSERT_EQ(profile.sample_count(), 2u);
  EXPECT_THAT(profile.sample(0).values, ElementsAre(5, 50'000'000));
  EXPECT_THAT(profile.sample(1).values, ElementsAre(1, 10'000'000));
  EXPECT_EQ(profile.function_count(), 2u);
  EXPECT_EQ(profile.location_count(), 2u);
  EXPECT_EQ(profile.Total(0), 6);
  EXPECT_EQ(profile.Total(1), 60'000'000);
}

TEST(ProfileBuilder, KeepsStacksWithOtherLabelsApart) {
  StackBuilder stacks;
  stacks.Add({"main"}, 1, {{"thread", "a"}, {"cpu", "0"}});
  stacks.Add({"main"}, 1, {{"thread", "b"}, {"cpu", "0"}});
  stacks.Add({"main"}, 1, {{"cpu", "0"}, {"thread", "a"}});  // the first again, in other order
  Profile profile = stacks.Build();
  ASSERT_EQ(profile.sample_count(), 2u);
  EXPECT_EQ(profile.sample(0).values[0], 2);
}

TEST(ProfileBuilder, KeepsLabelsOfOneKeyInTheirOrder) {
  StackBuilder stacks;
  stacks.Add({"main"}, 1, {{"thread", "b"}, {"cpu", "0"}, {"thread", "a"}});
  stacks.Add({"main"}, 1, {{"thread", "b"}, {"thread", "a"}, {"cpu", "0"}});
  stacks.Add({"main"}, 1, {{"thread", "a"}, {"thread", "b"}, {"cpu", "0"}});
  Profile profile = stacks.Build();
  ASSERT_EQ(profile.sample_count(), 2u);
  const Sample sample = profile.sample(0);
  EXPECT_EQ(sample.values[0], 2);
  ASSERT_EQ(sample.labels.size(), 3u);
  std::vector<std::string_view> threads;
  for (const Label& label : sample.labels) {
    if (profile.string(label.key) == "thread")
      threads.push_back(profile.string(label.string_value));
  }
  EXPECT_THAT(threads, ElementsAre("b", "a"));
}

TEST(ProfileBuilder, ReplacesBytesThatAreNotUtf8) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  EXPECT_EQ(builder.string(builder.AddString("a\xff z")), "a\xEF\xBF\xBD z");
}

TEST(ProfileBuilder, GivesEqualTextsOneIdWhateverComesBefore) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  std::map<std::string, StringId> ids{{"", 0}};
  for (const char* text : {"a", "b", "c", "a", "b", "c", "a", "c", "", "a", "d", "b", "", "d"}) {
    const StringId id = builder.AddString(text);
    EXPECT_EQ(ids.emplace(text, id).first->second, id) << text;
    EXPECT_EQ(builder.string(id), text);
  }
}

TEST(ProfileBuilder, GivesNobodyElseAnOpenMapping) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  const Mapping one{.memory_start = 0x1000, .memory_limit = 0x2000};
  const Mapping other{.memory_start = 0x3000, .memory_limit = 0x4000};
  const uint32_t first = builder.AddMapping(one);
  const uint32_t open = builder.AddOpenMapping(other);
  EXPECT_EQ(builder.AddMapping(one), first);
  EXPECT_NE(builder.AddMapping(other), open);  // which follows the one before
}

TEST(ProfileBuilder, SaturatesInsteadOfWrapping) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  uint32_t leaf = builder.AddLocation(kNoMapping, 0x10, {});
  int64_t huge[] = {1, std::numeric_limits<int64_t>::max()};
  builder.AddSample({&leaf, 1}, huge);
  builder.AddSample({&leaf, 1}, huge);
  Profile profile = std::move(builder).Build();
  EXPECT_EQ(profile.Total(1), std::numeric_limits<int64_t>::max());
}

TEST(ProfileBuilder, CountsWhatPassesTheLimit) {
  ProfileBuilder builder(CpuMeta(100, 0, 0), {.max_samples = 2});
  int64_t one[] = {1, 1};
  for (uint64_t address = 0; address < 5; ++address) {
    uint32_t leaf = builder.AddLocation(kNoMapping, address, {});
    EXPECT_EQ(builder.AddSample({&leaf, 1}, one), address < 2);
  }
  uint32_t known = builder.AddLocation(kNoMapping, 0, {});
  EXPECT_TRUE(builder.AddSample({&known, 1}, one));  // grows, takes no room
  EXPECT_EQ(builder.dropped_samples(), 3u);
  EXPECT_EQ(builder.sample_count(), 2u);
}

TEST(ProfileBuilder, SetsWhatWasLeftOpen) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  int64_t one[] = {1, 1};
  uint32_t mapping = builder.AddOpenMapping({});
  Line line{.function = builder.AddFunction("main", "main", "")};
  uint32_t known = builder.AddLocation(mapping, 0x10, {&line, 1});
  uint32_t first = builder.AddOpenLocation(), second = builder.AddOpenLocation();
  EXPECT_NE(first, second);
  for (uint32_t leaf : {known, first, second, first}) builder.AddSample({&leaf, 1}, one);
  builder.SetLocation(first, mapping, 0x20, {&line, 1});
  builder.SetLocation(second, mapping, 0x10, {&line, 1});
  builder.SetMapping(mapping, {.filename = builder.AddString("/app")});
  // An open location is not found when an equal one is added, because it might be set again.
  EXPECT_NE(builder.AddLocation(mapping, 0x20, {&line, 1}), first);
  Profile profile = std::move(builder).Build();
  ASSERT_EQ(profile.sample_count(), 3u);
  EXPECT_EQ(profile.sample(1).values[0], 2);
  EXPECT_EQ(profile.location(profile.sample(1).locations[0]).address, 0x20u);
  EXPECT_EQ(profile.location(profile.sample(2).locations[0]).address, 0x10u);
  EXPECT_EQ(profile.FrameName(profile.location(first), 0), "main");
  EXPECT_EQ(profile.string(profile.mapping(mapping).filename), "/app");
}

TEST(Profile, NamesFramesWithoutAFunctionByModuleAndFileOffset) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  uint32_t lib = builder.AddMapping({.memory_start = 0x7f0000000000,
                                     .memory_limit = 0x7f0000100000,
                                     .file_offset = 0x2000,
                                     .filename = builder.AddString("/lib/libc.so.6")});
  uint32_t vdso = builder.AddMapping(
      {.memory_start = 0x1000, .memory_limit = 0x2000, .filename = builder.AddString("[vdso]")});
  uint32_t in_lib = builder.AddLocation(lib, 0x7f0000000123, {});
  uint32_t in_vdso = builder.AddLocation(vdso, 0x1040, {});
  uint32_t nowhere = builder.AddLocation(kNoMapping, 0xdead, {});
  Profile profile = std::move(builder).Build();
  EXPECT_EQ(profile.FrameName(profile.location(in_lib), 0), "[libc.so.6]+0x2123");
  EXPECT_EQ(profile.FrameName(profile.location(in_vdso), 0), "[vdso]+0x40");
  EXPECT_EQ(profile.FrameName(profile.location(nowhere), 0), "0xdead");
}

TEST(Profile, ShowsTheDefaultSampleTypeElseTheLast) {
  Meta meta = CpuMeta(100, 0, 0);
  meta.default_sample_type = "samples";
  EXPECT_EQ(ProfileBuilder(meta).sample_count(), 0u);
  EXPECT_EQ(ProfileBuilder(meta).Build().DefaultValueIndex(), 0u);
  meta.default_sample_type = "nonsense";
  EXPECT_EQ(ProfileBuilder(meta).Build().DefaultValueIndex(), 1u);
  EXPECT_EQ(Profile().DefaultValueIndex(), 0u);
}

}  // namespace
}  // namespace firetower::profile
