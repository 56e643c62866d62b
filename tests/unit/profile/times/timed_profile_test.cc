// SPDX-License-Identifier: Apache-2.0
#include "profile/times/timed_profile.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "profile/builder.h"

namespace firetower::profile {
namespace {

constexpr int64_t kBeginS = 1'795'000'000;
constexpr int64_t kBeginSlot = kBeginS * SampleTimes::kSlotsPerSecond;

// Adds samples of stacks of one function each.
class Recording {
 public:
  Recording() : builder_(CpuMeta(100, kBeginS * kNsPerSecond, 10 * kNsPerSecond)) {}
  void Add(const std::string& function, int64_t ms) {
    const Line line{.function = builder_.AddFunction(function, "", "")};
    const uint32_t location = builder_.AddLocation(kNoMapping, 0, {&line, 1});
    const int64_t values[] = {1, 10'000'000};
    ASSERT_TRUE(builder_.AddSample({&location, 1}, values));
    times_.Add(kBeginS * kNsPerSecond + ms * kNsPerMs, builder_.last_sample());
  }
  TimedProfile Finish() { return {std::move(builder_).Build(), times_}; }

 private:
  ProfileBuilder builder_;
  SampleTimes times_;
};

std::map<std::string, int64_t> SamplesOf(const Profile& profile) {
  std::map<std::string, int64_t> samples;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const Sample sample = profile.sample(i);
    samples[profile.FrameName(profile.location(sample.locations[0]), 0)] += sample.values[0];
    EXPECT_EQ(sample.values[1], sample.values[0] * 10'000'000);
  }
  return samples;
}

// Names in an order that the file does not have.
TimedProfile Made() {
  Recording recording;
  for (int64_t second = 0; second < 10; ++second) {
    recording.Add("zeta", second * 1000);
    recording.Add("alpha", second * 1000 + 500);
    recording.Add("zeta", second * 1000 + 510);
    if (second >= 5) recording.Add("mid", second * 1000 + 90);
  }
  return recording.Finish();
}

using Samples = std::map<std::string, int64_t>;

TEST(TimedProfile, ComesBackFromItsFiles) {
  const TimedProfile made = Made();
  const TimedFiles files = EncodeTimed(made.profile, &made.times);
  const auto read = DecodeTimed(files.pprof_gz, files.times_gz);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(SamplesOf(read->profile), SamplesOf(made.profile));
  EXPECT_EQ(read->times.size(), made.times.size());
  for (int64_t second = 0; second < 10; ++second) {
    const TimeCut cut{.from_slot = kBeginSlot + second * 50,
                      .to_slot = kBeginSlot + second * 50 + 50};
    EXPECT_EQ(SamplesOf(CutToTime(*read, cut)), SamplesOf(CutToTime(made, cut))) << second;
  }
}

TEST(TimedProfile, HasNoTimesFileWhereNoneIsKnown) {
  const TimedProfile made = Made();
  const TimedFiles files = EncodeTimed(made.profile, nullptr);
  EXPECT_EQ(files.times_gz, "");
  const auto read = DecodeTimed(files.pprof_gz, files.times_gz);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->times.empty());
}

TEST(TimedProfile, IsCutToARangeOfTime) {
  const TimeCut cut{.from_slot = kBeginSlot + 4 * 50, .to_slot = kBeginSlot + 6 * 50};
  const Profile part = CutToTime(Made(), cut);
  EXPECT_EQ(SamplesOf(part), (Samples{{"zeta", 4}, {"alpha", 2}, {"mid", 1}}));
  EXPECT_EQ(part.meta().time_nanos, (kBeginS + 4) * kNsPerSecond);
  EXPECT_EQ(part.meta().duration_nanos, 2 * kNsPerSecond);
}

TEST(TimedProfile, IsCutToAPartOfEachSecond) {
  const TimeCut first{.from_slot = kBeginSlot, .to_slot = kBeginSlot + 500, .offset_to = 5};
  EXPECT_EQ(SamplesOf(CutToTime(Made(), first)), (Samples{{"zeta", 10}, {"mid", 5}}));
  const TimeCut middle{
      .from_slot = kBeginSlot, .to_slot = kBeginSlot + 500, .offset_from = 25, .offset_to = 26};
  const Profile part = CutToTime(Made(), middle);
  EXPECT_EQ(SamplesOf(part), (Samples{{"alpha", 10}, {"zeta", 10}}));
  EXPECT_EQ(part.meta().duration_nanos, 10 * 20 * kNsPerMs);
}

// The parts of a partition are the whole.
TEST(TimedProfile, AddsUpFromItsCells) {
  const TimedProfile made = Made();
  Samples sum;
  for (int64_t second = 0; second < 10; ++second) {
    for (int64_t row = 0; row < 50; row += 10) {
      const TimeCut cut{.from_slot = kBeginSlot + second * 50,
                        .to_slot = kBeginSlot + second * 50 + 50,
                        .offset_from = row,
                        .offset_to = row + 10};
      for (const auto& [name, count] : SamplesOf(CutToTime(made, cut))) sum[name] += count;
    }
  }
  EXPECT_EQ(sum, SamplesOf(made.profile));
}

TEST(TimedProfile, LeavesOutSamplesWithoutATime) {
  Recording recording;
  recording.Add("known", 100);
  TimedProfile timed = recording.Finish();
  ProfileBuilder builder(Meta(timed.profile.meta()));
  for (const char* name : {"known", "unknown"}) {
    const Line line{.function = builder.AddFunction(name, "", "")};
    const uint32_t location = builder.AddLocation(kNoMapping, 0, {&line, 1});
    const int64_t values[] = {1, 10'000'000};
    ASSERT_TRUE(builder.AddSample({&location, 1}, values));
  }
  timed.profile = std::move(builder).Build();
  const TimeCut all{.from_slot = kBeginSlot, .to_slot = kBeginSlot + 500};
  EXPECT_EQ(SamplesOf(CutToTime(timed, all)), (Samples{{"known", 1}}));
}

TEST(TimeCut, KnowsItsLength) {
  const TimeCut cut{
      .from_slot = kBeginSlot, .to_slot = kBeginSlot + 500, .offset_from = 5, .offset_to = 15};
  const int64_t begin = kBeginS * kNsPerSecond;
  EXPECT_EQ(cut.NsWithin(begin, begin + 10 * kNsPerSecond), 10 * 200 * kNsPerMs);
  EXPECT_EQ(cut.NsWithin(begin, begin + 150 * kNsPerMs), 50 * kNsPerMs);
  EXPECT_EQ(cut.NsWithin(begin + 9'250 * kNsPerMs, begin + 99 * kNsPerSecond), 50 * kNsPerMs);
  EXPECT_EQ(cut.NsWithin(begin - 9 * kNsPerSecond, begin), 0);
}

}  // namespace
}  // namespace firetower::profile
