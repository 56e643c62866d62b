// SPDX-License-Identifier: Apache-2.0
#include "profile/tree/bounded_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace firetower::profile {
namespace {

using Stack = std::vector<uint32_t>;  // symbols, root first
using Stream = std::vector<std::pair<Stack, int64_t>>;

uint32_t Feed(BoundedTree& tree, const Stack& stack, int64_t value, uint32_t column = 0) {
  uint32_t node = BoundedTree::kRoot;
  for (const uint32_t symbol : stack) node = tree.ChildOf(node, symbol);
  EXPECT_TRUE(tree.AddTo(node, column, value));
  if (tree.IsFull() && !tree.is_recounting()) tree.Prune();
  return node;
}

// Makes a stream like a compiler's: a few stacks have most of the value, and each of the others
// comes once.
Stream WideStream(uint32_t seed, size_t samples) {
  std::mt19937 random(seed);
  Stream stream;
  for (size_t i = 0; i < samples; ++i) {
    Stack stack{1};
    const bool is_common = random() % 3 == 0;
    const size_t depth = 3 + random() % 30;
    for (size_t at = 0; at < depth; ++at) {
      const uint32_t way = is_common ? static_cast<uint32_t>(random() % 100 < 90 ? 7 : 8)
                                     : static_cast<uint32_t>(random() % 50 + 10);
      stack.push_back(way);
    }
    stream.emplace_back(std::move(stack), 1 + static_cast<int64_t>(random() % 20));
  }
  return stream;
}

std::map<Stack, int64_t> TrueTotals(const Stream& stream) {
  std::map<Stack, int64_t> totals;
  for (const auto& [stack, value] : stream) {
    for (size_t depth = 0; depth <= stack.size(); ++depth)
      totals[Stack(stack.begin(), stack.begin() + static_cast<ptrdiff_t>(depth))] += value;
  }
  return totals;
}

// Totals of a tree by stack; `other` nodes by the symbol kOther.
std::map<Stack, int64_t> TotalsOf(const BoundedTree& tree, uint32_t column = 0) {
  const GrowingArray<int64_t> totals = tree.Totals(column);
  std::vector<Stack> stacks(tree.size());
  std::map<Stack, int64_t> out;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (node > 0) {
      EXPECT_LT(tree.parent(node), node);
      stacks[node] = stacks[tree.parent(node)];
      stacks[node].push_back(tree.symbol(node));
    }
    EXPECT_TRUE(out.emplace(stacks[node], totals[node]).second) << "two nodes of one stack";
  }
  return out;
}

TEST(BoundedTree, IsExactWhileItHasRoom) {
  const Stream stream = WideStream(1, 200);
  BoundedTree tree(1, 100'000);
  for (const auto& [stack, value] : stream) Feed(tree, stack, value);
  EXPECT_FALSE(tree.is_pruned());
  EXPECT_EQ(tree.missing(0), 0);
  EXPECT_EQ(TotalsOf(tree), TrueTotals(stream));
}

// Checks the promises of the tree with streams of several shapes and sizes.
TEST(BoundedTree, KeepsSumsAndTellsWhatMayBeMissing) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const uint32_t max_nodes = 500u << (seed % 3);
    const Stream stream = WideStream(seed, 4000);
    const std::map<Stack, int64_t> truth = TrueTotals(stream);
    BoundedTree tree(1, max_nodes);
    for (const auto& [stack, value] : stream) {
      Feed(tree, stack, value);
      ASSERT_LE(tree.size(), max_nodes + stack.size());
    }
    ASSERT_TRUE(tree.is_pruned());
    const std::map<Stack, int64_t> first = TotalsOf(tree);
    EXPECT_EQ(first.at({}), truth.at({}));
    size_t missing = 0;
    for (const auto& [stack, total] : truth) {
      const auto found = first.find(stack);
      if (found == first.end()) {
        ASSERT_LE(total, tree.missing(0));
        ++missing;
        continue;
      }
      ASSERT_LE(found->second, total);
      ASSERT_GE(found->second, total - tree.missing(0));
    }
    EXPECT_GT(missing, 0u);
    EXPECT_LT(tree.missing(0), truth.at({}) / 5);
    EXPECT_GT(first.size(), max_nodes / 8) << "it drops no more than it has to";

    tree.Recount();
    const int64_t may_be_missing = tree.missing(0);
    for (const auto& [stack, value] : stream) Feed(tree, stack, value);
    const std::map<Stack, int64_t> second = TotalsOf(tree);
    EXPECT_EQ(second.at({}), truth.at({}));
    for (const auto& [stack, total] : truth) {
      const auto found = second.find(stack);
      if (found != second.end()) {
        ASSERT_EQ(found->second, total) << "each node that is there has its true total";
      } else {
        ASSERT_LE(total, may_be_missing);
      }
    }
  }
}

TEST(BoundedTree, ANodeOfAThousandthIsNeverLostAmongDeepStacks) {
  // Each stack goes another way down, as of a program that branches at each call. It is as with 600
  // frames and 1.6 million nodes, which a flame graph has.
  constexpr uint32_t kDepth = 150;
  constexpr uint32_t kMaxNodes = 400'000;
  constexpr int kSamples = 12'000;
  std::mt19937 random(3);
  BoundedTree tree(1, kMaxNodes);
  for (int i = 0; i < kSamples; ++i) {
    uint32_t node = BoundedTree::kRoot;
    for (uint32_t depth = 0; depth < kDepth; ++depth)
      node = tree.ChildOf(node, static_cast<uint32_t>(random() % 8));
    ASSERT_TRUE(tree.AddTo(node, 0, 1));
    if (tree.IsFull()) tree.Prune();
  }
  ASSERT_TRUE(tree.is_pruned());
  EXPECT_LE(static_cast<double>(tree.missing(0)), 0.001 * kSamples);
}

// Then each of them may get an `other` child, and they must not take the room of the others.
TEST(BoundedTree, GetsSmallerAlsoWhereEachNodeHasLightChildren) {
  BoundedTree tree(1, 1000);
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 900; ++i) {
      Feed(tree, {1, i + 10}, 100);
      Feed(tree, {1, i + 10, 5000 + i}, 1);
    }
  }
  EXPECT_LE(tree.size(), 1003u);
  for (uint32_t nodes : {400u, 100u, 10u, 2u}) {
    tree.PruneTo(nodes);
    EXPECT_LE(tree.size(), nodes);
  }
  EXPECT_EQ(TotalsOf(tree).at({}), 3 * 900 * 101);
  tree.Recount();
  for (uint32_t i = 0; i < 900; ++i) Feed(tree, {1, i + 10}, 1);
  EXPECT_LE(tree.size(), 4u);
}

TEST(BoundedTree, ColumnsAreWeighedByTheirOwnSums) {
  // The second column's stack is a trifle beside the first one's values.
  BoundedTree tree(2, 400);
  std::mt19937 random(9);
  for (int i = 0; i < 3000; ++i) {
    Feed(tree, {static_cast<uint32_t>(random() % 50), static_cast<uint32_t>(random() % 50)},
         1'000'000);
    if (i % 100 == 0) Feed(tree, {77, 78}, 1, 1);
  }
  const auto second = TotalsOf(tree, 1);
  ASSERT_TRUE(second.contains({77, 78}));
  EXPECT_EQ(second.at({77, 78}), 30);
}

TEST(BoundedTree, DetailsGoIntoTheirParent) {
  constexpr uint32_t kDetail = 1u << 20;
  BoundedTree tree(1, 1000);
  Feed(tree, {1, 2}, 100);
  for (uint32_t i = 0; i < 50; ++i) Feed(tree, {1, 2, kDetail + i}, 1);
  Feed(tree, {1, 3}, 2);
  tree.PruneTo(4, [](uint32_t symbol) { return symbol >= kDetail; });
  const auto totals = TotalsOf(tree);
  EXPECT_EQ(totals.at({1, 2}), 150);
  EXPECT_FALSE(totals.contains({1, 2, BoundedTree::kOther}));
  EXPECT_EQ(totals.at({}), 152);
}

TEST(BoundedTree, RefusesSumsPast2To63) {
  BoundedTree tree(1, 10);
  const uint32_t a = tree.ChildOf(BoundedTree::kRoot, 1);
  EXPECT_TRUE(tree.AddTo(a, 0, INT64_MAX - 1));
  EXPECT_FALSE(tree.AddTo(BoundedTree::kRoot, 0, 2));
  EXPECT_TRUE(tree.AddTo(BoundedTree::kRoot, 0, 1));
  EXPECT_EQ(tree.sum(0), INT64_MAX);
}

TEST(BoundedTree, DropsNodesWithoutValues) {
  BoundedTree tree(1, 100);
  tree.AddColumn();
  Feed(tree, {1, 2}, 5);
  Feed(tree, {1, 3}, 6, 1);
  tree.ClearColumn(1);
  tree.DropEmpty();
  EXPECT_EQ(TotalsOf(tree), (std::map<Stack, int64_t>{{{}, 5}, {{1}, 5}, {{1, 2}, 5}}));
}

TEST(BoundedTree, SymbolsCanBeReplaced) {
  BoundedTree tree(1, 100);
  Feed(tree, {1, 2}, 5);
  tree.MapSymbols([](uint32_t symbol) { return symbol + 10; });
  Feed(tree, {11, 12}, 1);
  EXPECT_EQ(TotalsOf(tree), (std::map<Stack, int64_t>{{{}, 6}, {{11}, 6}, {{11, 12}, 6}}));
}

}  // namespace
}  // namespace firetower::profile
