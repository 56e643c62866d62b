// SPDX-License-Identifier: Apache-2.0
// A prefix tree of stacks that stays small, however many different stacks are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/container/growing_array.h"
#include "profile/table/id_set.h"

namespace firetower::profile {

// Prefix tree whose edges are symbols: small numbers with a meaning for the caller. Each node has
// one value, its self, in each column. Node 0 is the root; a parent comes before its children.
//
// When the tree has more than max_nodes, Prune() drops the lighter half. This is Lossy Counting
// (Manku and Motwani, "Approximate Frequency Counts over Data Streams", VLDB 2002) over the nodes
// of a tree: each node knows how much it may have lost before it was made, and the nodes with the
// smallest sum of value and possible loss are dropped. Their values become the self of the `other`
// child of their parent, so that every sum stays exact. missing(column) then bounds the true total
// of every node that is not in the tree. With stacks of D equally heavy nodes it is about 2 D /
// max_nodes of the total.
//
// After Recount() the caller adds the same values again, and only existing nodes count: then each
// of them has its true total, and the values of missing nodes are in the `other` of their closest
// ancestor.
//
// Used by one thread. Takes 30 bytes and 8 per column for each node, and a third more while it
// prunes.
class BoundedTree {
 public:
  static constexpr uint32_t kRoot = 0;
  // The symbol of an `other` child. The caller's symbols must be below it.
  static constexpr uint32_t kOther = IdSet::kNone - 1;

  BoundedTree(uint32_t columns, uint32_t max_nodes);

  // Adds a column, in which all nodes have 0.
  void AddColumn();

  uint32_t size() const { return static_cast<uint32_t>(parents_.size()); }
  uint32_t columns() const { return static_cast<uint32_t>(selfs_.size()); }
  uint32_t parent(uint32_t node) const { return parents_[node]; }
  uint32_t symbol(uint32_t node) const { return symbols_[node]; }
  int64_t self(uint32_t node, uint32_t column) const { return selfs_[column][node]; }
  // The memory held.
  size_t bytes() const;

  // Returns the child of `parent` with that symbol, and makes it if there is none. While recounting
  // it makes and returns `other` children instead. Everything below an `other` node is that node
  // itself.
  uint32_t ChildOf(uint32_t parent, uint32_t symbol);
  // Returns IdSet::kNone when there is none.
  uint32_t FindChild(uint32_t parent, uint32_t symbol) const;
  // Adds to a node's self. Returns false, and adds nothing, when the sum of the column would pass
  // 2^63; so no later sum can. `value` must not be negative.
  [[nodiscard]] bool AddTo(uint32_t node, uint32_t column, int64_t value);

  bool IsFull() const { return size() > max_nodes_; }
  // Tells whether a pruned node's value goes to its parent's self and not to `other`.
  using IsDetail = std::function<bool(uint32_t symbol)>;
  // Drops the lightest nodes until at most half of max_nodes are left. Node numbers change, so
  // earlier ones become invalid.
  void Prune(const IsDetail& is_detail = nullptr);
  // Drops the lightest nodes until at most `nodes` are left, besides the root with its `other`.
  void PruneTo(uint32_t nodes, const IsDetail& is_detail = nullptr);
  // Tells whether any node was dropped.
  bool is_pruned() const { return pruned_nodes_ > 0; }
  uint64_t pruned_nodes() const { return pruned_nodes_; }

  // Sets all values to 0 and keeps the nodes, so that the values can be added again. From then on
  // only `other` nodes are made. There is room for them, because at most half of max_nodes are
  // kept.
  void Recount(const IsDetail& is_detail = nullptr);
  bool is_recounting() const { return is_recounting_; }

  // Sets the values of one column to 0, and keeps the nodes.
  void ClearColumn(uint32_t column);
  // Drops nodes without any value in them or below. Node numbers change.
  void DropEmpty();

  // The largest total that a node which is not in the tree can have in that column.
  int64_t missing(uint32_t column) const { return losses_.back()[column]; }
  // The largest share of a column's sum, from 0 to 1, that such a node can have.
  double max_missing_share() const;
  // The sum of a column over all nodes.
  int64_t sum(uint32_t column) const { return sums_[column]; }
  // Returns for each node the sum of its self and of all nodes below it.
  GrowingArray<int64_t> Totals(uint32_t column) const;

  // Replaces each symbol except kOther by the result of `map`, in the order of nodes. Children of
  // one parent must keep different symbols.
  void MapSymbols(const std::function<uint32_t(uint32_t symbol)>& map);

  // Moves parts out of a tree that is no longer used.
  GrowingArray<uint32_t> TakeParents() { return std::move(parents_); }
  GrowingArray<uint32_t> TakeSymbols() { return std::move(symbols_); }
  GrowingArray<int64_t> TakeSelfs(uint32_t column) { return std::move(selfs_[column]); }

 private:
  uint32_t Append(uint32_t parent, uint32_t symbol);
  std::vector<float> Weights() const;
  // Returns for each node whether it and its ancestors are among the `count` heaviest. An `other`
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
  // By epoch and column: the most that a node which did not exist at the start of the epoch may
  // have lost.
  std::vector<std::vector<int64_t>> losses_;
  IdSet children_;  // nodes but the root, found by parent and symbol
  uint64_t pruned_nodes_ = 0;
  bool is_recounting_ = false;
};

}  // namespace firetower::profile
