// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profile/builder.h"
#include "profile/codec/gzip_writer.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

// Locations are their own numbers: index i is address i + 1.
ProfileBuilder WithLocations(uint32_t count) {
  ProfileBuilder builder(CpuMeta(100, 0, 0));
  for (uint32_t i = 0; i < count; ++i) builder.AddLocation(kNoMapping, i + 1, {});
  return builder;
}

void Add(const std::vector<uint32_t>& root_first, ProfileBuilder* builder, int64_t thread = 0) {
  const std::vector<uint32_t> leaf_first(root_first.rbegin(), root_first.rend());
  const int64_t values[] = {1, 10};
  std::vector<Label> labels;
  if (thread != 0) labels.push_back(builder->NumberLabel("tid", thread, ""));
  ASSERT_TRUE(builder->AddSample(leaf_first, values, labels));
}

std::vector<uint32_t> RootFirst(const Profile& profile, uint32_t sample) {
  const StackView locations = profile.sample(sample).locations;
  std::vector<uint32_t> root_first(locations.begin(), locations.end());
  std::ranges::reverse(root_first);
  return root_first;
}

TEST(SampleOrder, StacksOfOneCallerStandTogetherAndShorterOnesFirst) {
  ProfileBuilder builder = WithLocations(9);
  const std::vector<std::vector<uint32_t>> stacks{
      {0, 5, 6}, {1}, {0, 2, 3, 4}, {}, {0, 2, 3}, {0, 5}, {0}, {0, 2, 3, 4, 8}, {0, 2, 1, 1}};
  for (const auto& stack : stacks) Add(stack, &builder);
  const Profile profile = std::move(builder).Build();
  std::vector<std::vector<uint32_t>> ordered;
  for (const uint32_t i : SampleOrder(profile)) ordered.push_back(RootFirst(profile, i));
  const std::vector<std::vector<uint32_t>> expected{
      {}, {0}, {0, 2, 1, 1}, {0, 2, 3}, {0, 2, 3, 4}, {0, 2, 3, 4, 8}, {0, 5}, {0, 5, 6}, {1}};
  EXPECT_EQ(ordered, expected);
}

TEST(SampleOrder, SamplesOfOneStackKeepTheirOrder) {
  ProfileBuilder builder = WithLocations(3);
  for (const int64_t thread : {30, 10, 20}) {
    Add({2, 1}, &builder, thread);
    Add({2}, &builder, thread);
  }
  EXPECT_EQ(SampleOrder(std::move(builder).Build()), (std::vector<uint32_t>{1, 3, 5, 0, 2, 4}));
}

// Beside a plain sort of whole stacks; of locations that two bytes number, those at the border of
// it, and more.
class SampleOrderOf : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Locations, SampleOrderOf,
                         ::testing::Values(4, 65'533, 65'534, 65'535, 65'536, 65'537, 70'000));

TEST_P(SampleOrderOf, AgreesWithASortOfWholeStacks) {
  const uint32_t locations = GetParam();
  std::mt19937 random(3);
  ProfileBuilder builder = WithLocations(locations);
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint32_t> stack(random() % 9);
    // The first and the last ones, so that stacks share frames.
    for (uint32_t& frame : stack) {
      const auto near = static_cast<uint32_t>(random() % 4 / 2);
      frame = random() % 2 == 0 ? near : locations - 1 - near;
    }
    Add(stack, &builder, static_cast<int64_t>(random() % 3));
  }
  const Profile profile = std::move(builder).Build();
  std::vector<uint32_t> plain(profile.sample_count());
  for (uint32_t i = 0; i < plain.size(); ++i) plain[i] = i;
  std::ranges::stable_sort(plain, {}, [&](uint32_t i) { return RootFirst(profile, i); });
  EXPECT_EQ(SampleOrder(profile), plain);
}

TEST(SampleOrder, AStackOfAHundredThousandFramesIsNoDepthOfOurs) {
  ProfileBuilder builder = WithLocations(2);
  std::vector<uint32_t> deep(100'000, 0);
  Add(deep, &builder);
  deep.back() = 1;
  Add(deep, &builder);
  deep.pop_back();
  Add(deep, &builder);
  EXPECT_EQ(SampleOrder(std::move(builder).Build()), (std::vector<uint32_t>{2, 0, 1}));
}

// Stacks that come mixed up are smaller on disk beside their like.
TEST(SampleOrder, MakesFilesSmaller) {
  constexpr uint32_t kLocations = 2000;
  std::mt19937 random(5);
  std::vector<std::vector<uint32_t>> callers(2000);  // more than 32 KiB hold
  for (auto& caller : callers) {
    for (int i = 0; i < 20; ++i) caller.push_back(static_cast<uint32_t>(random() % kLocations));
  }
  ProfileBuilder mixed = WithLocations(kLocations);
  std::string unordered;  // the stacks alone, as they come
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint32_t> stack = callers[random() % callers.size()];
    for (int own = 0; own < 3; ++own) stack.push_back(static_cast<uint32_t>(random() % kLocations));
    Add(stack, &mixed);
    for (const uint32_t frame : stack) {
      unordered += static_cast<char>(((frame + 1) & 0x7f) | 0x80);
      unordered += static_cast<char>((frame + 1) >> 7);
    }
  }
  GzipWriter gzip;
  gzip.Append(unordered);
  // Although the file has values and tables besides.
  EXPECT_LT(EncodePprof(std::move(mixed).Build()).size(), std::move(gzip).Finish().size() / 2);
}

}  // namespace
}  // namespace firetower::profile
