// SPDX-License-Identifier: Apache-2.0
// Sums of profiles that are too wide for their limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "profile/flame/flame.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "profile/top/top.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr ProfileBuilder::Limits kSmall{.max_bytes = size_t{1} << 20, .coarsen = true};

// A fifth of the samples in main;Serve;Hot, of which the address differs each time, and the others
// in stacks of which each comes once.
Profile Wide(uint32_t seed) {
  std::mt19937 random(seed);
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  Line hot{.function = builder.AddFunction("Hot", "Hot", "hot.cc")};
  for (int i = 0; i < 3000; ++i) {
    if (i % 5 == 0) {
      hot.line = static_cast<int64_t>(random() % 500);
      const uint32_t stack[] = {
          builder.AddLocation(stacks.mapping(), 0x401000 + random() % 4096, {&hot, 1}),
          stacks.Frame("Serve"), stacks.Frame("main")};
      const int64_t values[] = {1, 10'000'000};
      builder.AddSample(stack, values, {{builder.StringLabel("thread", "worker")}});
      continue;
    }
    std::vector<std::string> names{"main", "Compile"};
    for (int depth = 0; depth < 40; ++depth) names.push_back("f" + std::to_string(random() % 300));
    const std::string thread = "t" + std::to_string(random() % 1000);
    stacks.Add({names.begin(), names.end()}, 1, {{"thread", thread}});
  }
  return stacks.Build();
}

std::map<std::string, int64_t> TotalsByFunction(const Profile& profile, uint32_t value_index) {
  std::map<std::string, int64_t> totals;
  for (const TopRow& row : Top(profile, value_index).rows) totals[row.function] = row.total;
  return totals;
}

TEST(CoarseMerge, KeepsSumsAndAllThatIsLarge) {
  const std::vector<Profile> parts = {Wide(1), Wide(2), Wide(3)};
  Merger merger(kSmall);
  for (const Profile& part : parts) ASSERT_TRUE(merger.Add(part));
  ASSERT_TRUE(merger.Recount());
  for (const Profile& part : parts) ASSERT_TRUE(merger.Add(part));
  EXPECT_FALSE(merger.Recount()) << "once is enough";
  EXPECT_EQ(merger.count(), 3u);
  EXPECT_EQ(merger.Total(0), 9000);
  const std::optional<double> hidden = merger.FitCoarse();
  ASSERT_TRUE(hidden);
  EXPECT_GT(*hidden, 0);
  EXPECT_LT(*hidden, 0.02);
  const Profile sum = std::move(merger).Finish();
  EXPECT_EQ(sum.Total(0), 9000);
  EXPECT_EQ(sum.Total(1), 90'000'000'000);
  EXPECT_THAT(sum.meta().comments, Contains(StartsWith("coarse: ")));

  const auto totals = TotalsByFunction(sum, 0);
  EXPECT_EQ(totals.at("main"), 9000);
  EXPECT_EQ(totals.at("Compile"), 7200);
  EXPECT_EQ(totals.at("Serve"), 1800);
  EXPECT_EQ(totals.at("Hot"), 1800) << "it is one function, wherever in it the samples were";
  EXPECT_GT(totals.at("other"), 0);

  std::map<std::string, int64_t> labelled;
  for (uint32_t i = 0; i < sum.sample_count(); ++i) {
    const Sample sample = sum.sample(i);
    for (const Label& label : sample.labels)
      labelled[std::string(sum.string(label.string_value))] += sample.values[0];
  }
  EXPECT_EQ(labelled["worker"], 1800) << "labels of what is large stay";
}

TEST(CoarseMerge, IsWithinItsLimitWhateverComes) {
  Merger merger(kSmall);
  for (uint32_t seed = 0; seed < 12; ++seed) {
    ASSERT_TRUE(merger.Add(Wide(seed)));
    ASSERT_LT(merger.bytes(), 3 * kSmall.max_bytes);
  }
  const Profile sum = std::move(merger).Finish();
  EXPECT_LT(sum.bytes(), 2 * kSmall.max_bytes);
  EXPECT_EQ(sum.Total(0), 36'000);
}

TEST(CoarseMerge, ReadsPprofAsItReadsProfiles) {
  Merger merger(kSmall);
  for (int round = 0; round < 2; ++round) {
    for (uint32_t seed = 0; seed < 3; ++seed) ASSERT_TRUE(merger.AddPprof(EncodePprof(Wide(seed))));
    if (round == 0) {
      ASSERT_TRUE(merger.Recount());
    }
  }
  const auto totals = TotalsByFunction(std::move(merger).Finish(), 1);
  EXPECT_EQ(totals.at("main"), 90'000'000'000);
  EXPECT_EQ(totals.at("Hot"), 18'000'000'000);
}

TEST(CoarseMerge, IsExactBelowTheLimit) {
  Merger whole;
  Merger limited({.max_bytes = size_t{64} << 20, .coarsen = true});
  for (uint32_t seed = 0; seed < 2; ++seed) {
    ASSERT_TRUE(whole.Add(Wide(seed)));
    ASSERT_TRUE(limited.Add(Wide(seed)));
  }
  EXPECT_FALSE(limited.Recount());
  EXPECT_EQ(limited.FitCoarse(), std::nullopt);
  EXPECT_EQ(EncodePprof(std::move(limited).Finish()), EncodePprof(std::move(whole).Finish()));
}

// Code that a runtime writes has new addresses all the time, and no names.
TEST(CoarseMerge, AddressesWithoutNamesAreBoundedToo) {
  Merger merger(kSmall);
  std::mt19937_64 random(8);
  for (int part = 0; part < 30; ++part) {
    StackBuilder stacks;
    ProfileBuilder& builder = stacks.builder();
    const uint32_t jit = builder.AddMapping({.memory_start = 0x7f0000000000,
                                             .memory_limit = 0x7fff00000000,
                                             .filename = builder.AddString("[jit]")});
    for (int i = 0; i < 3000; ++i) {
      const uint32_t stack[] = {
          builder.AddLocation(jit, 0x7f0000000000 + random() % 0xf0000000, {}),
          builder.AddLocation(kNoMapping, 0x1000 + random() % 0xf0000000, {}),
          stacks.Frame("main")};
      const int64_t values[] = {1, 10};
      builder.AddSample(stack, values);
    }
    ASSERT_TRUE(merger.Add(stacks.Build()));
    ASSERT_LT(merger.bytes(), 3 * kSmall.max_bytes);
  }
  EXPECT_TRUE(merger.FitCoarse());
  const Profile sum = std::move(merger).Finish();
  EXPECT_EQ(sum.Total(0), 90'000);
  EXPECT_EQ(TotalsByFunction(sum, 0).at("main"), 90'000);
}

// Also where nothing was cut: addresses and lines are gone.
TEST(CoarseMerge, SaysThatItIsCoarse) {
  Merger merger({.max_samples = 1, .coarsen = true});
  ASSERT_TRUE(merger.Add(StackBuilder().Add({"a"}, 1).Add({"b"}, 2).Build()));
  EXPECT_EQ(merger.FitCoarse(), 0.0);
  const Profile sum = std::move(merger).Finish();
  EXPECT_THAT(sum.meta().comments, Contains(StartsWith("coarse: ")));
  // A sum of such sums says it once, and not of what share of a part.
  Merger again;
  ASSERT_TRUE(again.Add(sum));
  ASSERT_TRUE(again.Add(sum));
  EXPECT_THAT(std::move(again).Finish().meta().comments,
              ::testing::ElementsAre("coarse: parts of the sum were too wide to be held whole"));
}

// A difference has negative values, which have no place in a tree of shares.
TEST(CoarseMerge, NegativeValuesAreRefusedAsEver) {
  StackBuilder negative;
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string> names;
    for (int depth = 0; depth < 10; ++depth) names.push_back("f" + std::to_string(random() % 300));
    negative.Add({names.begin(), names.end()}, -1);
  }
  Merger merger(kSmall);
  const Status added = merger.Add(negative.Build());
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), ErrorCode::kExhausted);
}

TEST(CoarseMerge, OtherOfAFileIsOtherInAGraph) {
  Merger merger(kSmall);
  for (uint32_t seed = 0; seed < 3; ++seed) ASSERT_TRUE(merger.Add(Wide(seed)));
  const Profile read = *DecodePprof(EncodePprof(std::move(merger).Finish()));
  const auto flame = MakeFlame(read, {});
  ASSERT_TRUE(flame);
  EXPECT_EQ(flame->levels.total(), 90'000'000'000);
  std::set<FrameKind> kinds_of_other;
  for (const FlameName& name : flame->levels.names) {
    if (name.text == "other") kinds_of_other.insert(name.kind);
  }
  EXPECT_EQ(kinds_of_other, std::set{FrameKind::kOther});
}

// Each bar of a graph that was pruned, against the one that was not.
TEST(WideFlame, BarsAreTrueAndNoneOfAThousandthIsLost) {
  const std::vector<Profile> parts = {Wide(5), Wide(6)};
  const auto levels_of = [&](uint32_t max_nodes) {
    FlameTreeBuilder builder(NameDetail::kFull, max_nodes);
    do {
      for (const Profile& part : parts) EXPECT_TRUE(builder.Add(part, 0));
    } while (builder.Recount());
    return LayOutFlame(std::move(builder).Build(), {}, SiblingOrder::kName);
  };
  // By the hash of a bar's path.
  const auto bars_of = [](const FlameLevels& levels) {
    std::map<size_t, int64_t> bars;
    std::vector<size_t> paths(levels.bars.size());
    for (uint32_t bar = 1; bar < levels.bars.size(); ++bar) {
      const FlameName& name = levels.names[levels.name_of[bar]];
      paths[bar] =
          std::hash<std::string>()(std::to_string(paths[levels.parent_of[bar]]) + name.text);
      if (name.kind != FrameKind::kOther) bars[paths[bar]] = levels.bars[bar].total;
    }
    return bars;
  };
  const FlameLevels whole = levels_of(FlameTreeBuilder::kMaxNodes);
  const FlameLevels pruned = levels_of(40'000);
  EXPECT_EQ(whole.max_hidden, 0);
  EXPECT_EQ(whole.cut_nodes, 0u);
  EXPECT_GT(pruned.max_hidden, 0);
  EXPECT_LE(pruned.max_hidden, 0.002 * 6000);
  EXPECT_GT(pruned.cut_nodes, 0u);
  EXPECT_EQ(pruned.total(), 6000);
  const auto truth = bars_of(whole);
  const auto shown = bars_of(pruned);
  EXPECT_LT(shown.size(), truth.size());
  for (const auto& [path, total] : shown) ASSERT_EQ(total, truth.at(path));
  for (const auto& [path, total] : truth) {
    ASSERT_TRUE(total <= pruned.max_hidden || shown.contains(path));
  }
  int64_t selfs = 0;
  for (const FlameBar& bar : pruned.bars) selfs += bar.self;
  EXPECT_EQ(selfs, 6000) << "other holds the rest";
}

// Names that all are in the tree to stay, each with a child that is dropped.
TEST(WideFlame, ManyLongNamesEndSomewhere) {
  FlameTreeBuilder builder(NameDetail::kFull, 1'000'000, /*max_text_bytes=*/1 << 18);
  StackBuilder stacks;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = std::string(100, 'x') + std::to_string(i);
    stacks.Add({"main", name}, 10).Add({"main", name, "y" + std::to_string(i)}, 1);
  }
  const Profile profile = stacks.Build();
  for (int round = 0; round < 2; ++round) ASSERT_TRUE(builder.Add(profile, 0));
  ASSERT_TRUE(builder.Recount());
  for (int round = 0; round < 2; ++round) ASSERT_TRUE(builder.Add(profile, 0));
  const FlameTree tree = std::move(builder).Build();
  EXPECT_EQ(tree.totals[0], 2 * 33'000);
  EXPECT_TRUE(tree.max_hidden_share);
}

// A side is weighed by its own total, however small that is beside the other's.
TEST(WideFlame, TheShareOfADiffIsOfItsSide) {
  FlameTreeBuilder builder(NameDetail::kFull, 40);
  StackBuilder large, small;
  for (int i = 0; i < 60; ++i) {
    large.Add({"main", "f" + std::to_string(i)}, 1000);
    small.Add({"main", "g" + std::to_string(i)}, 1);
  }
  ASSERT_TRUE(builder.Add(large.Build(), 0, FlameTreeBuilder::Side::kLeft));
  ASSERT_TRUE(builder.Add(small.Build(), 0, FlameTreeBuilder::Side::kRight));
  const FlameTree tree = std::move(builder).Build();
  ASSERT_TRUE(tree.max_hidden_share);
  EXPECT_GE(*tree.max_hidden_share, 1.0 / 60);
  EXPECT_EQ(tree.totals[0], 60);
  EXPECT_EQ(tree.left_totals[0], 60'000);
}

TEST(WideFlame, NamesAreBoundedToo) {
  FlameTreeBuilder builder(NameDetail::kFull, 1'000'000, /*max_text_bytes=*/1 << 20);
  const auto feed = [&] {
    for (int part = 0; part < 40; ++part) {
      StackBuilder stacks;
      for (int i = 0; i < 400; ++i) {
        const std::string name = std::string(200, 'x') + std::to_string(part * 400 + i);
        stacks.Add({"main", name}, 1);
      }
      stacks.Add({"main", "hot"}, 1000);
      ASSERT_TRUE(builder.Add(stacks.Build(), 0));
    }
  };
  feed();
  ASSERT_TRUE(builder.Recount());
  feed();
  const FlameTree tree = std::move(builder).Build();
  EXPECT_LT(tree.strings.bytes(), size_t{4} << 20);
  const FlameLevels levels = LayOutFlame(tree, {.max_bars = 2}, SiblingOrder::kName);
  EXPECT_EQ(levels.total(), 56'000);
  ASSERT_EQ(levels.bars.size(), 4u);
  EXPECT_EQ(levels.bars[1].total, 56'000);
  EXPECT_EQ(levels.names[levels.name_of[2]].text, "hot");
  EXPECT_EQ(levels.bars[2].total, 40'000);
}

}  // namespace
}  // namespace firetower::profile
