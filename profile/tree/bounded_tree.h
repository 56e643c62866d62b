// SPDX-License-Identifier: Apache-2.0
// A prefix tree of stacks that stays small however many different stacks it is fed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/container/growing_array.h"
#include "profile/table/id_set.h"

namespace firetower::profile {

// Prefix tree whose edges are symbols, small numbers that the caller gives a meaning. Each node has
// one value, its self, in each of some columns. Node 0 is the root; a parent stands before its
// children.
//
// When the tree has more than max_nodes, Prune() drops the lighter half. It is Lossy Counting
// (Manku and Motwani, "Approximate Frequency Counts over Data Streams", VLDB 2002) over the nodes
// of a tree: each node knows how much it can have lost before it was made, and the lightest nodes
// by value plus possible loss go. Their values become the self of the `other` child of their
// parent, so that every sum stays exact. missing(column) then bounds the true total of every node
// that is not in the tree. With stacks of D nodes that weigh alike it is about 2 D / max_nodes of
// the whole.
//
// After Recount() the same values are fed once more and only nodes that are there count: then each
// of them has its true total, and what is not there is in the `other` of its closest ancestor.
//
// Used by one thread. Takes 30 bytes and 8 for each column a node, a third more while it prunes.
class BoundedTree {
 public:
  static constexpr uint32_t kRoot = 0;
  // The symbol of an `other` child. The caller uses no number from here on.
  static constexpr uint32_t kOther = IdSet::kNone - 1;

  BoundedTree(uint32_t columns, uint32_t max_nodes);

  // Adds a column, in which all nodes have 0.
  void AddColumn();

  uint32_t size() const { return static_cast<uint32_t>(parents_.size()); }
  uint32_t columns() const { return static_cast<uint32_t>(selfs_.size()); }
  uint32_t parent(uint32_t node) const { return parents_[node]; }
  uint32_t symbol(uint32_t node) const { return symbols_[node]; }
  int64_t self(uint32_t node, uint32_t column) const { return selfs_[column][node]; }
  // Memory held.
  size_t bytes() const;

  // Returns the child of `parent` with that symbol, and makes it if there is none. While recounting
  // it makes `other` children only, and returns them instead. All that is below an `other` node is
  // that node then.
  uint32_t ChildOf(uint32_t parent, uint32_t symbol);
  // IdSet::kNone when there is none.
  uint32_t FindChild(uint32_t parent, uint32_t symbol) const;
  // Adds to a node's self. False, and nothing is added, when the sum of the column would pass 2^63;
  // so no later sum can. `value` is 0 or more.
  [[nodiscard]] bool AddTo(uint32_t node, uint32_t column, int64_t value);

  bool IsFull() const { return size() > max_nodes_; }
  // Says of a node whether its value goes to its parent's self when it is pruned, not to `other`.
  using IsDetail = std::function<bool(uint32_t symbol)>;
  // Drops the lightest nodes until at most half of max_nodes are left. Numbers of nodes change:
  // forget those you kept.
  void Prune(const IsDetail& is_detail = nullptr);
  // Leaves at most `nodes`, and the root with its `other`.
  void PruneTo(uint32_t nodes, const IsDetail& is_detail = nullptr);
  // Some node was dropped.
  bool is_pruned() const { return pruned_nodes_ > 0; }
  uint64_t pruned_nodes() const { return pruned_nodes_; }

  // Sets all values to 0 and keeps the nodes, for a second feeding. No nodes are made from then on
  // but `other` ones, for which there is room: half of max_nodes are kept at most.
  void Recount(const IsDetail& is_detail = nullptr);
  bool is_recounting() const { return is_recounting_; }

  // Sets the values of one column to 0, and keeps the nodes.
  void ClearColumn(uint32_t column);
  // Drops nodes without any value in them or below. Numbers of nodes change.
  void DropEmpty();

  // The most that a node which is not in the tree can have in all, in that column.
  int64_t missing(uint32_t column) const { return losses_.back()[column]; }
  // The largest share, from 0 to 1, of all values of a column that such a node can have.
  double max_missing_share() const;
  // The sum of a column over all nodes.
  int64_t sum(uint32_t column) const { return sums_[column]; }
  // Returns for each node the sum of its self and of those of all nodes below it.
  GrowingArray<int64_t> Totals(uint32_t column) const;

  // Replaces each symbol but kOther by what `map` says of it, in the order of nodes. Children of
  // one parent keep different symbols.
  void MapSymbols(const std::function<uint32_t(uint32_t symbol)>& map);

  // Parts of a tree that is used up.
  GrowingArray<uint32_t> TakeParents() { return std::move(parents_); }
  GrowingArray<uint32_t> TakeSymbols() { return std::move(symbols_); }
  GrowingArray<int64_t> TakeSelfs(uint32_t column) { return std::move(selfs_[column]); }

 private:
  uint32_t Append(uint32_t parent, uint32_t symbol);
  std::vector<float> Weights() const;
  // Tells for each node whether it and its ancestors are among the `count` heaviest. An `other`
  // node is kept with its parent, and not counted.
  std::vector<bool> ChooseKept(uint32_t count) const;
  void DropAllBut(uint32_t count, const IsDetail& is_detail);
  void MoveSelf(uint32_t from, uint32_t to);
  void Compact(const std::vector<bool>& kept);
  void Reindex();

  uint32_t max_nodes_;
  GrowingArray<uint32_t> parents_;
  GrowingArray<uint32_t> symbols_;
  GrowingArray<uint32_t> epochs_;  // how many prunings there were before the node was made
  std::vector<GrowingArray<int64_t>> selfs_;
  std::vector<int64_t> sums_;
  // By epoch and column: the most that a node which was not there when the epoch began had lost.
  std::vector<std::vector<int64_t>> losses_;
  IdSet children_;  // nodes but the root, found by parent and symbol
  uint64_t pruned_nodes_ = 0;
  bool is_recounting_ = false;
};

}  // namespace firetower::profile
