// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/export.h"
#include "profile/pprof.h"
#include "profile/selector.h"
#include "profile/type.h"
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

// A file with that build id, whose function at one address is called so; empty: named afterwards.
Profile WithOneBuildId(const std::string& path, const std::string& function) {
  ProfileBuilder builder(CpuMeta(100, 0, kSecond));
  Mapping mapping;
  mapping.memory_limit = ~uint64_t{0};
  mapping.filename = builder.AddString(path);
  mapping.build_id = builder.AddString("b1d");
  if (!function.empty()) mapping.flags = Mapping::kHasFunctions;
  const uint32_t file = builder.AddMapping(mapping);
  std::vector<Line> lines;
  if (!function.empty()) lines.push_back({.function = builder.AddFunction(function, function, "")});
  const uint32_t leaf = builder.AddLocation(file, 0x42, lines);
  int64_t one[] = {1, 10};
  builder.AddSample({&leaf, 1}, one);
  return std::move(builder).Build();
}

// The linker leaves the symbol table out of the build id.
TEST(Merge, KeepsTheNamesOfFilesWithOneBuildIdApart) {
  Profile a = WithOneBuildId("/bin/app", "one");
  Profile b = WithOneBuildId("/bin/app", "two");
  const Profile* three[] = {&a, &b, &a};
  auto sum = Merge(three);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->mapping_count(), 1u);
  EXPECT_EQ(ToFolded(*sum, 0), "one 2\ntwo 1\n");
}

TEST(Merge, KeepsFilesWithOneBuildIdApartUntilTheyHaveNames) {
  Profile a = WithOneBuildId("/bin/one", "");
  Profile b = WithOneBuildId("/bin/two", "");
  const Profile* three[] = {&a, &b, &a};
  auto sum = Merge(three);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->mapping_count(), 2u);
  EXPECT_EQ(ToFolded(*sum, 0), "[one]+0x42 2\n[two]+0x42 1\n");
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

// profile.proto: `repeated int64 comment`, which may say one thing twice.
TEST(Merge, KeepsACommentAsOftenAsAFileHasIt) {
  const auto with = [](std::vector<std::string> comments) {
    StackBuilder stacks;
    stacks.builder().meta().comments = std::move(comments);
    return stacks.Build();
  };
  const Profile parts[] = {with({"a", "b", "a"}), with({"b", "a", "c"}), with({"a", "a"})};
  const Profile* all[] = {&parts[0], &parts[1], &parts[2]};
  EXPECT_THAT(Merge(all).value().meta().comments, ElementsAre("a", "b", "a", "c"));
  const Profile* one[] = {&parts[0]};
  EXPECT_EQ(Merge(one).value().meta().comments, parts[0].meta().comments);
}

TEST(Merge, TellsOfAFileThatHasAnotherName) {
  const Profile a = WithOneBuildId("/a/app", "one");
  const Profile b = WithOneBuildId("/b/app", "one");
  Merger merger;
  ASSERT_TRUE(merger.Add(a));
  ASSERT_TRUE(merger.Add(a));
  EXPECT_EQ(merger.other_names().mappings, 0u);
  ASSERT_TRUE(merger.AddPprof(EncodePprof(b)));
  ASSERT_TRUE(merger.Add(WithOneBuildId("/c/app", "one")));
  EXPECT_EQ(merger.other_names().mappings, 1u);
  EXPECT_EQ(merger.other_names().kept, "/a/app");
  EXPECT_EQ(merger.other_names().left_out, "/b/app");
}

// 3 of 100 samples in one part, none of 300 in the other: 3 of 400.
TEST(Merge, TellsCutStacksOfItsOwnSamples) {
  const std::string says = "% of samples have a cut stack: their label `cut` says why";
  StackBuilder some;
  some.Add({"main", "x"}, 97).Add({"x"}, 3, {{"cut", "page"}});
  some.builder().meta().comments = {"pod=a", "3.0" + says, "policy=all"};
  StackBuilder none;
  none.Add({"main", "x"}, 300).builder().meta().comments = {"pod=b", "0.0" + says, "policy=all"};
  const Profile parts[] = {some.Build(), none.Build()};
  const Profile* both[] = {&parts[0], &parts[1]};
  const Profile sum = Merge(both).value();
  EXPECT_THAT(sum.meta().comments, ElementsAre("pod=a", "policy=all", "pod=b", "0.8" + says));
  // A profile without a comment about cut stacks gets none.
  const Profile silent = StackBuilder().Add({"main"}, 1).Build();
  const Profile* one[] = {&silent};
  EXPECT_THAT(Merge(one).value().meta().comments, ElementsAre());
}

TEST(Merge, TellsHowManyCommentsItLeftOut) {
  const auto many = [](int from, int to) {
    StackBuilder stacks;
    for (int i = from; i < to; ++i)
      stacks.builder().meta().comments.push_back("pod=" + std::to_string(i));
    return stacks.Build();
  };
  const auto last = [](const Profile& a, const Profile& b, size_t size) {
    const Profile* both[] = {&a, &b};
    Profile sum = Merge(both).value();
    EXPECT_EQ(sum.meta().comments.size(), size);
    return sum;
  };
  EXPECT_EQ(last(many(0, 64), many(0, 64), 64).meta().comments.back(), "pod=63");
  // 40 to 69 come twice.
  const Profile more = last(many(0, 70), many(40, 90), 65);
  EXPECT_EQ(more.meta().comments.back(), "and 26 more comments");
  // Which 26 those were is not known any more: they may be the ten of the other part, too.
  EXPECT_EQ(last(more, many(80, 90), 65).meta().comments.back(), "and at least 26 more comments");
}

// Adding a file gives the same result as adding its profile.
TEST(Merge, TakesPprofFilesAsTheyAre) {
  Profile parts[] = {WithLibraryAt(0x7f0000000000), WithLibraryAt(0x7e1230000000),
                     StackBuilder().Add({"main", "x"}, 1, {{"thread", "io"}}).Build(),
                     StackBuilder().Add({"main", "größe"}, 2).Build()};
  Merger by_profile;
  Merger by_file;
  for (const Profile& part : parts) {
    ASSERT_TRUE(by_profile.Add(part));
    ASSERT_TRUE(by_file.AddPprof(EncodePprof(part)));
  }
  EXPECT_EQ(by_file.count(), 4u);
  Profile sum = std::move(by_profile).Finish();
  Profile same = std::move(by_file).Finish();
  EXPECT_EQ(same.meta(), sum.meta());
  EXPECT_EQ(same.mapping_count(), sum.mapping_count());
  for (uint32_t value = 0; value < 2; ++value) {
    EXPECT_EQ(ToFolded(same, value), ToFolded(sum, value));
  }
  auto io = FilterSamples(same, *Selector::Parse("{thread=\"io\"}"));
  EXPECT_EQ(ToFolded(io, 0), "main;x 1\n");
}

TEST(Merge, ADamagedFileLeavesTheSumAsItWas) {
  const std::string good =
      EncodePprof(StackBuilder().Add({"main", "x"}, 1).Build(), {.gzip = false});
  const std::string other =
      EncodePprof(StackBuilder().Add({"other", "y"}, 7).Build(), {.gzip = false});
  Merger merger;
  ASSERT_TRUE(merger.AddPprof(good));
  const size_t bytes = merger.bytes();
  for (size_t length = 0; length < other.size(); ++length) {
    EXPECT_FALSE(merger.AddPprof(std::string_view(other).substr(0, length))) << length;
  }
  EXPECT_EQ(merger.bytes(), bytes);
  EXPECT_EQ(merger.count(), 1u);
  EXPECT_EQ(ToFolded(std::move(merger).Finish(), 0), "main;x 1\n");
}

// Memory is that of the sum, however many files there are.
TEST(Merge, DoesNotGrowWithFilesThatSayTheSame) {
  const std::string file = EncodePprof(StackBuilder().Add({"main", "x"}, 3).Build());
  Merger merger;
  ASSERT_TRUE(merger.AddPprof(file));
  const size_t bytes = merger.bytes();
  for (int i = 1; i < 1000; ++i) ASSERT_TRUE(merger.AddPprof(file));
  EXPECT_EQ(merger.bytes(), bytes);
  EXPECT_EQ(merger.saturated_values(), 0u);
  EXPECT_EQ(std::move(merger).Finish().Total(0), 3000);
}

TEST(Merge, CountsSumsThatPassTheRange) {
  Merger merger;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(merger.Add(StackBuilder().Add({"main"}, INT64_MAX / 20'000'000).Build()));
  }
  EXPECT_EQ(merger.saturated_values(), 0u);
  ASSERT_TRUE(merger.Add(StackBuilder().Add({"main"}, INT64_MAX / 20'000'000).Build()));
  EXPECT_EQ(merger.saturated_values(), 1u);
}

TEST(Merge, OfNothingIsEmpty) { EXPECT_EQ(Merger().Finish().sample_count(), 0u); }

// A profile of memory with one stack.
Profile OfMemory(const std::vector<int64_t>& values) {
  Meta meta;
  meta.sample_types = ProfileType{.kind = TypeKind::kMemory}.SampleTypes();
  meta.sample_types.resize(values.size());
  ProfileBuilder builder(meta);
  const Line line{.function = builder.AddFunction("f", "f", "")};
  const uint32_t leaf = builder.AddLocation(kNoMapping, 0, {&line, 1});
  builder.AddSample({&leaf, 1}, values);
  return std::move(builder).Build();
}

TEST(Merge, TakesOfAMomentTheLastProfileAlone) {
  Merger merger;
  merger.LeaveOutLevels(true);
  ASSERT_TRUE(merger.Add(OfMemory({1, 10, 5, 50})));
  ASSERT_TRUE(merger.Add(OfMemory({0, 0, 7, 70})));
  merger.LeaveOutLevels(false);
  ASSERT_TRUE(merger.Add(OfMemory({2, 20, 6, 60})));
  const Profile sum = std::move(merger).Finish();
  ASSERT_EQ(sum.sample_count(), 1u);
  EXPECT_THAT(sum.sample(0).values, ElementsAre(3, 30, 6, 60));
}

TEST(Merge, HasZerosWhereAnOlderProfileHasFewerValues) {
  for (const bool older_first : {true, false}) {
    Merger merger;
    merger.WidenTo(ProfileType{.kind = TypeKind::kMemory}.SampleTypes());
    const Profile older = OfMemory({1, 10}), newer = OfMemory({2, 20, 6, 60});
    ASSERT_TRUE(merger.Add(older_first ? older : newer));
    ASSERT_TRUE(merger.Add(older_first ? newer : older));
    EXPECT_FALSE(merger.Add(StackBuilder().Add({"main"}, 1).Build()));
    const Profile sum = std::move(merger).Finish();
    EXPECT_THAT(sum.sample(0).values, ElementsAre(3, 30, 6, 60));
  }
  Merger plain;
  ASSERT_TRUE(plain.Add(OfMemory({1, 10})));
  EXPECT_FALSE(plain.Add(OfMemory({2, 20, 6, 60}))) << "of files nobody knows that";
}

}  // namespace
}  // namespace firetower::profile
