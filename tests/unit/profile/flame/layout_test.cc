// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "profile/flame/tree.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using Side = FlameTreeBuilder::Side;

FlameLevels LayOut(const Profile& profile, uint32_t max_bars = 0,
                   SiblingOrder order = SiblingOrder::kName) {
  FlameTreeBuilder builder(NameDetail::kFull);
  EXPECT_TRUE(builder.Add(profile, 0));
  return LayOutFlame(std::move(builder).Build(), {.max_bars = max_bars}, order);
}

// "name x total self" of each bar of a level.
std::vector<std::string> Level(const FlameLevels& levels, size_t level) {
  std::vector<std::string> out;
  for (uint32_t bar = levels.level_starts[level]; bar < levels.level_starts[level + 1]; ++bar) {
    const FlameBar& at = levels.bars[bar];
    out.push_back(levels.names[levels.name_of[bar]].text + " " + std::to_string(at.x) + " " +
                  std::to_string(at.total) + " " + std::to_string(at.self));
  }
  return out;
}

// Checks rules that hold for any graph: the sums are right, and children lie within their parents
// without overlap.
void ExpectSound(const FlameLevels& levels, int64_t total) {
  ASSERT_EQ(levels.level_starts.front(), 0u);
  ASSERT_EQ(levels.level_starts.back(), levels.bars.size());
  EXPECT_EQ(levels.names[0].text, "total");
  EXPECT_EQ(levels.total(), total);
  int64_t selfs = 0;
  std::vector<int64_t> children(levels.bars.size(), 0);
  for (size_t level = 0; level < levels.level_count(); ++level) {
    int64_t end = 0;
    for (uint32_t bar = levels.level_starts[level]; bar < levels.level_starts[level + 1]; ++bar) {
      const FlameBar& at = levels.bars[bar];
      ASSERT_GE(at.x, end);
      ASSERT_GT(at.total, 0);
      ASSERT_GE(at.self, 0);
      end = at.x + at.total;
      selfs += at.self;
      if (level == 0) continue;
      const uint32_t parent = levels.parent_of[bar];
      ASSERT_GE(parent, levels.level_starts[level - 1]);
      ASSERT_LT(parent, levels.level_starts[level]);
      ASSERT_GE(at.x, levels.bars[parent].x);
      ASSERT_LE(end, levels.bars[parent].x + levels.bars[parent].total);
      children[parent] += at.total;
    }
  }
  EXPECT_EQ(selfs, total);
  for (size_t bar = 0; bar < levels.bars.size(); ++bar) {
    ASSERT_EQ(children[bar] + levels.bars[bar].self, levels.bars[bar].total);
  }
}

Profile Shop() {
  return StackBuilder()
      .Add({"main", "serve", "parse"}, 60)
      .Add({"main", "serve", "encode"}, 30)
      .Add({"main", "serve"}, 5)
      .Add({"main", "idle"}, 4)
      .Add({"start"}, 1)
      .Build();
}

TEST(LayOutFlame, PutsChildrenSideBySideByName) {
  FlameLevels levels = LayOut(Shop());
  ExpectSound(levels, 100);
  EXPECT_THAT(Level(levels, 0), ElementsAre("total 0 100 0"));
  EXPECT_THAT(Level(levels, 1), ElementsAre("main 0 99 0", "start 99 1 1"));
  EXPECT_THAT(Level(levels, 2), ElementsAre("idle 0 4 4", "serve 4 95 5"));
  EXPECT_THAT(Level(levels, 3), ElementsAre("encode 4 30 30", "parse 34 60 60"));
  EXPECT_EQ(levels.level_count(), 4u);
  EXPECT_EQ(levels.cut_nodes, 0u);
}

TEST(LayOutFlame, PutsChildrenSideBySideByValue) {
  FlameLevels levels = LayOut(Shop(), 0, SiblingOrder::kValue);
  ExpectSound(levels, 100);
  EXPECT_THAT(Level(levels, 2), ElementsAre("serve 0 95 5", "idle 95 4 4"));
  EXPECT_THAT(Level(levels, 3), ElementsAre("parse 0 60 60", "encode 60 30 30"));
}

TEST(LayOutFlame, CutsTheSmallestIntoOneOtherAParent) {
  // Six functions; the four largest are main 99, serve 95, parse 60 and encode 30.
  FlameLevels levels = LayOut(Shop(), 4);
  ExpectSound(levels, 100);
  EXPECT_EQ(levels.cut_nodes, 2u);
  EXPECT_THAT(Level(levels, 1), ElementsAre("main 0 99 0", "other 99 1 1"));
  EXPECT_THAT(Level(levels, 2), ElementsAre("serve 0 95 5", "other 95 4 4"));
  EXPECT_THAT(Level(levels, 3), ElementsAre("encode 0 30 30", "parse 30 60 60"));
  const FlameName& other = levels.names[levels.name_of[levels.level_starts[2] - 1]];
  EXPECT_EQ(other.kind, FrameKind::kOther);
  // Nodes below a cut one are cut too.
  FlameLevels one = LayOut(Shop(), 1);
  ExpectSound(one, 100);
  EXPECT_THAT(Level(one, 1), ElementsAre("main 0 99 0", "other 99 1 1"));
  EXPECT_THAT(Level(one, 2), ElementsAre("other 0 99 99"));
  EXPECT_EQ(one.cut_nodes, 5u);
}

TEST(LayOutFlame, CutsWhatIsBelowAShare) {
  FlameTreeBuilder builder(NameDetail::kFull);
  ASSERT_TRUE(builder.Add(Shop(), 0));
  FlameTree tree = std::move(builder).Build();
  // main 99, serve 95, parse 60 and encode 30 are 30 or more; idle 4 and start 1 are not.
  FlameLevels levels = LayOutFlame(tree, {.min_total = 30}, SiblingOrder::kName);
  ExpectSound(levels, 100);
  EXPECT_EQ(levels.cut_nodes, 2u);
  EXPECT_THAT(Level(levels, 3), ElementsAre("encode 0 30 30", "parse 30 60 60"));
  EXPECT_THAT(Level(LayOutFlame(tree, {.min_total = 31}, SiblingOrder::kName), 3),
              ElementsAre("parse 0 60 60", "other 60 30 30"));
  // The stricter of the two.
  EXPECT_EQ(LayOutFlame(tree, {.max_bars = 1, .min_total = 30}, SiblingOrder::kName).cut_nodes, 5u);
  EXPECT_EQ(LayOutFlame(tree, {.max_bars = 5, .min_total = 30}, SiblingOrder::kName).cut_nodes, 2u);
}

TEST(LayOutFlame, OfEqualNodesThoseWithTheirParentsAreKept) {
  Profile chains = StackBuilder().Add({"a", "b", "c"}, 1).Add({"d", "e", "f"}, 1).Build();
  for (uint32_t max = 1; max <= 6; ++max) {
    FlameLevels levels = LayOut(chains, max);
    ExpectSound(levels, 2);
    auto others = std::ranges::count_if(levels.name_of, [&](uint32_t name) {
      return levels.names[name].kind == FrameKind::kOther;
    });
    EXPECT_EQ(levels.bars.size() - static_cast<size_t>(others), max + 1u);
  }
}

TEST(LayOutFlame, AFunctionCalledOtherIsNoCut) {
  FlameLevels levels = LayOut(StackBuilder().Add({"other"}, 3).Build());
  EXPECT_EQ(levels.names[levels.name_of[1]].kind, FrameKind::kUser);
}

TEST(LayOutFlame, AnEmptyProfileIsOneBarOfNothing) {
  FlameLevels levels = LayOut(StackBuilder().Add({"main"}, 0).Build());
  ASSERT_EQ(levels.bars.size(), 1u);
  EXPECT_EQ(levels.total(), 0);
}

TEST(LayOutFlame, TakesStacksOf2000FramesAndMore) {
  // Distinct names, so that nothing is folded; then a recursion a hundred times as deep.
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back("f" + std::to_string(i));
  FlameLevels levels = LayOut(StackBuilder().Add({names.begin(), names.end()}, 7).Build());
  EXPECT_EQ(levels.level_count(), 2001u);
  ExpectSound(levels, 7);
  std::vector<std::string_view> recursion(200'000, "again");
  FlameLevels deep = LayOut(StackBuilder().Add(recursion, 1).Build());
  EXPECT_EQ(deep.level_count(), 200'001u);
  EXPECT_EQ(deep.names.size(), 2u);
}

// Sums by stack, from the samples themselves.
std::map<std::vector<std::string>, int64_t> Prefixes(
    const std::vector<std::pair<std::vector<std::string>, int64_t>>& samples) {
  std::map<std::vector<std::string>, int64_t> sums;
  for (const auto& [stack, value] : samples) {
    for (size_t length = 1; length <= stack.size(); ++length) {
      sums[{stack.begin(), stack.begin() + static_cast<ptrdiff_t>(length)}] += value;
    }
  }
  return sums;
}

TEST(LayOutFlame, SumsOfRandomStacksAreExactWhateverIsCut) {
  std::mt19937 random(6);
  std::vector<std::pair<std::vector<std::string>, int64_t>> samples;
  StackBuilder stacks;
  int64_t total = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::string> stack;
    for (size_t depth = 1 + random() % 12; depth > 0; --depth) {
      stack.push_back(std::string(1, static_cast<char>('a' + random() % 5)));
    }
    int64_t value = 1 + random() % 100;
    total += value;
    stacks.Add({stack.begin(), stack.end()}, value);
    samples.emplace_back(std::move(stack), value);
  }
  Profile profile = stacks.Build();
  const auto prefixes = Prefixes(samples);
  for (uint32_t max : {0u, 1u, 10u, 1000u, 100'000u}) {
    FlameLevels levels = LayOut(profile, max);
    ExpectSound(levels, total);
    std::vector<std::vector<std::string>> paths(levels.bars.size());
    size_t found = 0;
    for (uint32_t bar = 1; bar < levels.bars.size(); ++bar) {
      const FlameName& name = levels.names[levels.name_of[bar]];
      if (name.kind == FrameKind::kOther) continue;
      paths[bar] = paths[levels.parent_of[bar]];
      paths[bar].push_back(name.text);
      ASSERT_EQ(levels.bars[bar].total, prefixes.at(paths[bar]));
      ++found;
    }
    EXPECT_EQ(found, max == 0 ? prefixes.size() : std::min<size_t>(max, prefixes.size()));
  }
}

TEST(FlameTree, OneNameInTwoBinariesIsTwoNodes) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  uint32_t library = builder.AddMapping({.memory_start = 0x700000,
                                         .memory_limit = 0x800000,
                                         .filename = builder.AddString("/lib/libc.so.6"),
                                         .flags = Mapping::kHasFunctions});
  Line line{.function = builder.AddFunction("malloc", "malloc", "")};
  uint32_t there[] = {builder.AddLocation(library, 0x700010, {&line, 1})};
  int64_t values[] = {2, 20};
  builder.AddSample(there, values);
  stacks.Add({"malloc"}, 3);
  FlameLevels levels = LayOut(stacks.Build());
  ExpectSound(levels, 5);
  EXPECT_THAT(Level(levels, 1), ElementsAre("malloc 0 2 2", "malloc 2 3 3"));
  EXPECT_EQ(levels.names[levels.name_of[1]].module, "/lib/libc.so.6");
  EXPECT_EQ(levels.names[levels.name_of[2]].module, "/usr/bin/app");
}

TEST(FlameTree, MarksKernelJitAndInlinedFrames) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  uint32_t jit = builder.AddMapping(
      {.memory_start = 0x900000, .memory_limit = 0xa00000, .filename = builder.AddString("[jit]")});
  Line lines[] = {{.function = builder.AddFunction("inlined", "", "")},
                  {.function = builder.AddFunction("caller", "", "")}};
  Line compiled{.function = builder.AddFunction("compiled", "", "")};
  Line system{.function = builder.AddFunction("do_syscall_64", "", "")};
  uint32_t stack[] = {builder.AddLocation(kNoMapping, 0xffffffff81000000, {&system, 1}),
                      builder.AddLocation(jit, 0x900010, {&compiled, 1}),
                      builder.AddLocation(stacks.mapping(), 0x400100, lines)};
  int64_t values[] = {1, 10};
  builder.AddSample(stack, values);
  FlameLevels levels = LayOut(stacks.Build());
  std::vector<std::pair<std::string, FrameKind>> found;
  for (uint32_t name : levels.name_of) {
    found.emplace_back(levels.names[name].text, levels.names[name].kind);
  }
  EXPECT_THAT(
      found,
      ElementsAre(std::pair("total", FrameKind::kTotal), std::pair("caller", FrameKind::kUser),
                  std::pair("inlined", FrameKind::kInlined), std::pair("compiled", FrameKind::kJit),
                  std::pair("do_syscall_64", FrameKind::kKernel)));
}

TEST(FlameTree, NamesThatAreSimplifiedAlikeShareANode) {
  Profile profile =
      StackBuilder().Add({"f<int>(int)"}, 1).Add({"f<char>(char)"}, 2).Add({"g(int)"}, 4).Build();
  FlameTreeBuilder builder(NameDetail::kBare);
  ASSERT_TRUE(builder.Add(profile, 0));
  FlameLevels levels = LayOutFlame(std::move(builder).Build(), {}, SiblingOrder::kName);
  EXPECT_THAT(Level(levels, 1), ElementsAre("f 0 3 3", "g 3 4 4"));
}

TEST(FlameTree, SamplesWithoutAStackAreNotLost) {
  StackBuilder stacks;
  int64_t values[] = {2, 20};
  stacks.builder().AddSample({}, values);
  EXPECT_THAT(Level(LayOut(stacks.Build()), 1), ElementsAre("[no stack] 0 2 2"));
}

TEST(FlameTree, RefusesWhatDoesNotAddUp) {
  StackBuilder negative;
  negative.Add({"main"}, -1);
  FlameTreeBuilder first(NameDetail::kFull);
  EXPECT_EQ(first.Add(negative.Build(), 0).error().code(), ErrorCode::kUnsupported);

  StackBuilder huge;
  int64_t values[] = {INT64_MAX, 1};
  uint32_t main[] = {huge.Frame("main")};
  uint32_t start[] = {huge.Frame("start")};
  huge.builder().AddSample(main, values);
  huge.builder().AddSample(start, values);
  FlameTreeBuilder second(NameDetail::kFull);
  EXPECT_EQ(second.Add(huge.Build(), 0).error().code(), ErrorCode::kExhausted);
}

TEST(FlameTree, OfTwoProfilesHasTheSumsOfBothSides) {
  Profile before = StackBuilder().Add({"main", "gone"}, 5).Add({"main", "same"}, 10).Build();
  Profile after = StackBuilder().Add({"main", "same"}, 7).Add({"main", "new"}, 2).Build();
  FlameTreeBuilder builder(NameDetail::kFull);
  ASSERT_TRUE(builder.Add(before, 0, Side::kLeft));
  ASSERT_TRUE(builder.Add(after, 0, Side::kRight));
  FlameLevels levels = LayOutFlame(std::move(builder).Build(), {}, SiblingOrder::kName);
  std::map<std::string, std::vector<int64_t>> found;  // left x total self, right x total self
  for (size_t bar = 0; bar < levels.bars.size(); ++bar) {
    const FlameBar& left = levels.left[bar];
    const FlameBar& right = levels.bars[bar];
    found[levels.names[levels.name_of[bar]].text] = {left.x,  left.total,  left.self,
                                                     right.x, right.total, right.self};
  }
  EXPECT_THAT(found["total"], ElementsAre(0, 15, 0, 0, 9, 0));
  EXPECT_THAT(found["main"], ElementsAre(0, 15, 0, 0, 9, 0));
  EXPECT_THAT(found["gone"], ElementsAre(0, 5, 5, 0, 0, 0));
  EXPECT_THAT(found["new"], ElementsAre(5, 0, 0, 0, 2, 2));
  EXPECT_THAT(found["same"], ElementsAre(5, 10, 10, 2, 7, 7));
  EXPECT_EQ(found.size(), 5u);
}

}  // namespace
}  // namespace firetower::profile
