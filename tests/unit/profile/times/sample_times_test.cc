// SPDX-License-Identifier: Apache-2.0
#include "profile/times/sample_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "profile/codec/gzip.h"

namespace firetower::profile {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBeginNs = 1'795'000'000 * kNsPerSecond;

// Milliseconds after kBeginNs, and samples.
SampleTimes TimesOf(const std::vector<std::pair<int64_t, uint32_t>>& taken) {
  SampleTimes times;
  for (const auto& [ms, sample] : taken) times.Add(kBeginNs + ms * kNsPerMs, sample);
  return times;
}

// The same in the order of time.
std::vector<std::pair<int64_t, uint32_t>> ListOf(const SampleTimes& times) {
  std::vector<std::pair<int64_t, uint32_t>> list;
  for (const SampleTimes::Taken& taken : times.taken())
    list.emplace_back(times.SlotOf(taken) * 20 - kBeginNs / kNsPerMs, taken.sample);
  return list;
}

TEST(SampleTimes, ComeBackInOrderToTwentyMilliseconds) {
  const SampleTimes times = TimesOf({{1045, 3}, {0, 7}, {19, 2}, {1040, 0}, {59'999, 2}});
  const auto read = DecodeSampleTimes(EncodeSampleTimes(times), 8);
  ASSERT_TRUE(read) << read.error().message();
  const std::vector<std::pair<int64_t, uint32_t>> expected = {
      {0, 2}, {0, 7}, {1040, 0}, {1040, 3}, {59'980, 2}};
  EXPECT_EQ(ListOf(*read), expected);
}

TEST(SampleTimes, HaveSamplesFromBeforeTheFirstOne) {
  const SampleTimes times = TimesOf({{10'000, 0}, {-4000, 1}});
  const auto read = DecodeSampleTimes(EncodeSampleTimes(times), 2);
  ASSERT_TRUE(read);
  const std::vector<std::pair<int64_t, uint32_t>> expected = {{-4000, 1}, {10'000, 0}};
  EXPECT_EQ(ListOf(*read), expected);
}

TEST(SampleTimes, IgnoreTimesThatCannotBe) {
  SampleTimes times;
  times.Add(-1, 0);
  EXPECT_TRUE(times.empty());
  times.Add(kBeginNs, 0);
  times.Add(kBeginNs + int64_t{3} * 366 * 86'400 * kNsPerSecond, 0);
  EXPECT_EQ(times.size(), 1u);
}

TEST(SampleTimes, MayBeEmpty) {
  const auto read = DecodeSampleTimes(EncodeSampleTimes({}), 0);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->empty());
}

TEST(SampleTimes, RefuseASampleThatTheProfileDoesNotHave) {
  const std::string bytes = EncodeSampleTimes(TimesOf({{0, 3}, {0, 5}}));
  EXPECT_TRUE(DecodeSampleTimes(bytes, 6));
  for (const uint32_t samples : {0u, 3u, 5u}) {
    const auto read = DecodeSampleTimes(bytes, samples);
    ASSERT_FALSE(read) << samples;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
    EXPECT_THAT(read.error().message(), HasSubstr("a sample that the profile does not have"));
  }
}

TEST(SampleTimes, RefuseEachPrefixAndWhatFollows) {
  const auto raw =
      GzipDecompress(EncodeSampleTimes(TimesOf({{0, 300}, {20, 2}, {20, 2}, {4000, 7}})), 1 << 20);
  ASSERT_TRUE(raw);
  for (size_t length = 0; length < raw->size(); ++length)
    EXPECT_FALSE(DecodeSampleTimes(GzipCompress(raw->substr(0, length), 1), 1000)) << length;
  EXPECT_TRUE(DecodeSampleTimes(GzipCompress(*raw, 1), 1000));
  const auto more = DecodeSampleTimes(GzipCompress(*raw + '\0', 1), 1000);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message(), HasSubstr("bytes follow its end"));
}

TEST(SampleTimes, RefuseSlotsThatDoNotRise) {
  // Head, first slot 1, two slots, of which the second is 0 later.
  const std::string raw = std::string("FTT1\x01\x02\x00\x01\x00\x01\x00\x00", 12);
  const auto read = DecodeSampleTimes(GzipCompress(raw, 1), 1);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("slots that do not rise"));
}

TEST(SampleTimes, RefuseMoreThanTheyHold) {
  // One slot with 2^25 samples.
  const std::string raw = std::string("FTT1\x01\x01\x00\x80\x80\x80\x10", 11);
  const auto read = DecodeSampleTimes(GzipCompress(raw, 1), 1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kExhausted);
}

// A minute of one CPU at 97 Hz, whose stacks are as uneven as real ones: the aim is 1.5 bytes.
TEST(SampleTimes, TakeAboutAByteAndAHalfForASample) {
  SampleTimes times;
  uint64_t state = 7;
  constexpr int kSamples = 97 * 60;
  for (int i = 0; i < kSamples; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double even = static_cast<double>(state >> 11) / static_cast<double>(1ull << 53);
    times.Add(kBeginNs + int64_t{i} * kNsPerSecond / 97,
              static_cast<uint32_t>(500 * even * even * even));
  }
  const size_t bytes = EncodeSampleTimes(times).size();
  EXPECT_LT(bytes, 1.5 * kSamples);
}

}  // namespace
}  // namespace firetower::profile
