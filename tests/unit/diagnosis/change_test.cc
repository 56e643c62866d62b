// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "tests/unit/diagnosis/profiles.h"

namespace firetower::diagnosis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kParts = 8;

// A workload of 50 functions: f0 has 1 % of the samples, the others share the rest unevenly.
std::vector<double> Shares(double of_f0) {
  std::vector<double> shares = {of_f0};
  double sum = 0;
  for (int i = 1; i < 50; ++i) sum += 1.0 / i;
  for (int i = 1; i < 50; ++i) shares.push_back((1 - of_f0) / i / sum);
  return shares;
}

// Draws samples. `spread` is how much the shares of parts differ, as a part of themselves.
SideSamples Draw(std::mt19937_64& random, std::vector<double> shares, int64_t samples,
                 double spread = 0) {
  SideSamples side;
  side.cores = 1;
  std::normal_distribution<double> noise(0, spread);
  for (size_t i = 0; i < kParts; ++i) {
    std::vector<double> drawn = shares;
    if (spread > 0)
      for (double& share : drawn) share *= std::exp(noise(random));
    double rest = 0;
    for (const double share : drawn) rest += share;
    PartSamples part;
    int64_t left = samples / static_cast<int64_t>(kParts);
    part.total = left;
    for (size_t f = 0; f < drawn.size() && left > 0; ++f) {
      const double share = std::min(1.0, drawn[f] / rest);
      const int64_t own =
          f + 1 == drawn.size() ? left : std::binomial_distribution<int64_t>(left, share)(random);
      if (own > 0) part.own[{"f" + std::to_string(f), "app"}] = own;
      left -= own;
      rest -= drawn[f];
    }
    side.parts.push_back(std::move(part));
  }
  return side;
}

bool Names(const Changes& changes, const std::string& function) {
  return std::ranges::any_of(changes.rows,
                             [&](const Change& one) { return one.function == function; });
}

// Samples a side that a two-proportion z-test needs to tell two shares apart in 95 of 100 cases, if
// it divides the 1 % of false alarms among the 50 functions as well (3.7190 standard errors for
// 1 % / 50, two-sided).
double ZTestSamples(double share, double after) {
  constexpr double kZAlarms = 3.7190, kZPower = 1.6449;
  const double mean = (share + after) / 2;
  const double root = kZAlarms * std::sqrt(2 * mean * (1 - mean)) +
                      kZPower * std::sqrt(share * (1 - share) + after * (1 - after));
  return std::pow(root / (after - share), 2);
}

// 1.3 times what a z-test needs find it in 95 of 100 comparisons: a function of 1 % that grows by 5
// and by 10 %, and one that is new.
TEST(FindChanges, FindsGrowthWithLittleMoreSamplesThanAZTestNeeds) {
  std::mt19937_64 random(1);
  const std::pair<double, double> growths[] = {{0.01, 0.0105}, {0.01, 0.011}, {0, 0.01}};
  for (const auto& [before_share, after_share] : growths) {
    const auto samples = static_cast<int64_t>(1.3 * ZTestSamples(before_share, after_share));
    int found = 0, others = 0;
    for (int run = 0; run < 200; ++run) {
      const SideSamples before = Draw(random, Shares(before_share), samples);
      const SideSamples after = Draw(random, Shares(after_share), samples);
      const Changes changes = FindChanges(before, after);
      found += Names(changes, "f0");
      others += changes.rows.size() > (Names(changes, "f0") ? 1u : 0u);
    }
    std::printf("%.2f %% to %.2f %%: %lld samples a side, found in %d of 200 runs\n",
                100 * before_share, 100 * after_share, static_cast<long long>(samples), found);
    EXPECT_GE(found, 190);
    EXPECT_LE(others, 8);
  }
}

TEST(FindChanges, RaisesNoMoreFalseAlarmsThanItWasToldTo) {
  std::mt19937_64 random(3);
  for (const int64_t samples : {800, 8'000, 800'000}) {
    int alarms = 0;
    for (int run = 0; run < 1000; ++run)
      alarms += !FindChanges(Draw(random, Shares(0.01), samples),
                             Draw(random, Shares(0.01), samples), 0.05)
                     .rows.empty();
    std::printf("%lld samples a side: %d false alarms in 1,000 comparisons, at 5 %%\n",
                static_cast<long long>(samples), alarms);
    // Mean 50 at most; 72 is three standard deviations above.
    EXPECT_LE(alarms, 72);
  }
}

// Requests are not alike: shares differ from minute to minute by more than chance.
TEST(FindChanges, SharesThatVaryByThemselvesRaiseNoAlarms) {
  std::mt19937_64 random(4);
  int alarms = 0;
  for (int run = 0; run < 400; ++run)
    alarms += !FindChanges(Draw(random, Shares(0.01), 800'000, 0.1),
                           Draw(random, Shares(0.01), 800'000, 0.1))
                   .rows.empty();
  std::printf("shares that vary by 10 %%: %d false alarms in 400 comparisons, at 1 %%\n", alarms);
  EXPECT_LE(alarms, 12);
  const Changes seen = FindChanges(Draw(random, Shares(0.01), 800'000, 0.1),
                                   Draw(random, Shares(0.02), 800'000, 0.1));
  EXPECT_TRUE(Names(seen, "f0"));
  EXPECT_GT(seen.spread, 10);
}

TEST(FindChanges, IsSilentWithoutSamples) {
  std::mt19937_64 random(5);
  EXPECT_THAT(FindChanges({}, Draw(random, Shares(0.01), 800)).rows, IsEmpty());
  EXPECT_THAT(FindChanges({}, {}).rows, IsEmpty());
}

SideSamples Side(double cores, std::map<std::string, int64_t> own) {
  SideSamples side;
  side.cores = cores;
  PartSamples& part = side.parts.emplace_back();
  for (const auto& [name, samples] : own) {
    part.own[{name, "web"}] = samples;
    part.total += samples;
  }
  return side;
}

TEST(FindGrowth, NamesWhatGrewAndWhatIsNew) {
  const auto findings = FindGrowth(Side(1, {{"parse", 2000}, {"send", 8000}}),
                                   Side(1.2, {{"parse", 4000}, {"send", 7500}, {"log", 500}}));
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].signature, "grew");
  EXPECT_THAT(findings[0].cause, HasSubstr("parse of web takes 33.33 % where it took 20.00 %"));
  EXPECT_THAT(findings[0].cause, HasSubstr("0.400 cores, before 0.200"));
  EXPECT_GT(findings[0].confidence, 0.99);
  EXPECT_EQ(findings[1].signature, "new-hotspot");
  EXPECT_THAT(findings[1].confirm, HasSubstr("1 %"));
}

TEST(FindGrowth, AWholeThatShrankMakesNothingGrow) {
  EXPECT_THAT(FindGrowth(Side(2, {{"parse", 10000}, {"send", 10000}}),
                         Side(1, {{"parse", 10000}, {"send", 100}})),
              IsEmpty());
}

TEST(FindGrowth, TellsMoreOfTheSame) {
  EXPECT_THAT(FindGrowth(Side(1, {{"parse", 1000}, {"send", 1000}}),
                         Side(3, {{"parse", 3000}, {"send", 3000}})),
              ElementsAre(Field(&Finding::signature, "busier")));
}

TEST(CountSamples, CountsEachSampleForTheFunctionThatItIsTheOwnOf) {
  const PartSamples part =
      CountSamples(ProfileOf().Add({{"main"}, {"work"}}, 7).Add({{"main"}}, 3).Build());
  EXPECT_EQ(part.total, 10);
  EXPECT_THAT(part.own, ElementsAre(std::pair(FunctionName("main", "/app/web"), 3),
                                    std::pair(FunctionName("work", "/app/web"), 7)));
}

}  // namespace
}  // namespace firetower::diagnosis
