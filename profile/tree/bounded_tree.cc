// SPDX-License-Identifier: Apache-2.0
#include "profile/tree/bounded_tree.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "profile/profile.h"

namespace firetower::profile {
namespace {

uint32_t HashOf(uint32_t parent, uint32_t symbol) {
  const uint64_t key = (uint64_t{parent} << 32 | symbol) * 0x9E3779B97F4A7C15ull;
  return static_cast<uint32_t>(key >> 32);
}

}  // namespace

BoundedTree::BoundedTree(uint32_t columns, uint32_t max_nodes)
    : max_nodes_(max_nodes),
      selfs_(columns),
      sums_(columns),
      losses_{std::vector<int64_t>(columns)} {
  Append(kRoot, 0);
}

void BoundedTree::AddColumn() {
  GrowingArray<int64_t> selfs;
  selfs.reserve(size());
  for (uint32_t node = 0; node < size(); ++node) selfs.push_back(0);
  selfs_.push_back(std::move(selfs));
  sums_.push_back(0);
  for (std::vector<int64_t>& losses : losses_) losses.push_back(0);
}

size_t BoundedTree::bytes() const {
  size_t bytes = parents_.bytes() + symbols_.bytes() + epochs_.bytes() + children_.bytes();
  for (const GrowingArray<int64_t>& selfs : selfs_) bytes += selfs.bytes();
  return bytes;
}

uint32_t BoundedTree::Append(uint32_t parent, uint32_t symbol) {
  const uint32_t node = size();
  parents_.push_back(parent);
  symbols_.push_back(symbol);
  // An `other` child holds lost values, so nothing of its own is lost.
  epochs_.push_back(symbol == kOther ? 0 : static_cast<uint32_t>(losses_.size() - 1));
  for (GrowingArray<int64_t>& selfs : selfs_) selfs.push_back(0);
  return node;
}

uint32_t BoundedTree::FindChild(uint32_t parent, uint32_t symbol) const {
  return children_.Find(HashOf(parent, symbol), [&](uint32_t child) {
    return parents_[child] == parent && symbols_[child] == symbol;
  });
}

uint32_t BoundedTree::ChildOf(uint32_t parent, uint32_t symbol) {
  const bool is_new_wanted = !is_recounting_ && symbol != kOther;
  if (!is_new_wanted && parent != kRoot && symbols_[parent] == kOther) return parent;
  // The newest node has no children yet: the rest of a stack that left the known ways is all new.
  const bool is_newest = parent + 1 == size();
  const uint32_t found = is_newest ? IdSet::kNone : FindChild(parent, symbol);
  if (found != IdSet::kNone) return found;
  if (is_recounting_ && symbol != kOther) return ChildOf(parent, kOther);
  const uint32_t node = Append(parent, symbol);
  children_.Insert(HashOf(parent, symbol), node);
  return node;
}

bool BoundedTree::AddTo(uint32_t node, uint32_t column, int64_t value) {
  int64_t sum = 0;
  if (__builtin_add_overflow(sums_[column], value, &sum)) return false;
  sums_[column] = sum;
  selfs_[column][node] += value;
  return true;
}

GrowingArray<int64_t> BoundedTree::Totals(uint32_t column) const {
  GrowingArray<int64_t> totals = selfs_[column];
  // Children come after their parents, so that each total is whole when it is passed on.
  for (uint32_t node = size(); node-- > 1;) totals[parents_[node]] += totals[node];
  return totals;
}

// Computes for each node the largest share of a column that it can really have. The root and
// `other` nodes, which are never dropped by themselves, weigh nothing.
std::vector<float> BoundedTree::Weights() const {
  std::vector<float> weights(size());
  for (uint32_t column = 0; column < columns(); ++column) {
    if (sums_[column] == 0) continue;
    const GrowingArray<int64_t> totals = Totals(column);
    const auto whole = static_cast<float>(sums_[column]);
    for (uint32_t node = 1; node < size(); ++node) {
      if (symbols_[node] == kOther) continue;
      const int64_t most = SaturatingAdd(totals[node], losses_[epochs_[node]][column]);
      weights[node] = std::max(weights[node], static_cast<float>(most) / whole);
    }
  }
  return weights;
}

std::vector<bool> BoundedTree::ChooseKept(uint32_t count) const {
  const std::vector<float> weights = Weights();
  float limit = -1;
  {
    std::vector<float> sorted;
    for (uint32_t node = 1; node < size(); ++node) {
      if (symbols_[node] != kOther) sorted.push_back(weights[node]);
    }
    if (sorted.size() > count) {
      std::ranges::nth_element(sorted, sorted.begin() + count, std::greater<>());
      limit = sorted[count];
    }
  }
  std::vector<bool> kept(size());
  kept[kRoot] = true;
  for (uint32_t node = 1; node < size(); ++node) {
    kept[node] = kept[parents_[node]] && (symbols_[node] == kOther || weights[node] > limit);
  }
  return kept;
}

void BoundedTree::Prune(const IsDetail& is_detail) { PruneTo(max_nodes_ / 2, is_detail); }

void BoundedTree::PruneTo(uint32_t nodes, const IsDetail& is_detail) {
  // Each node that is kept may need an `other` child: where that makes too many, half of them go.
  for (uint32_t count = nodes; size() > std::max(nodes, 2u); count /= 2) {
    DropAllBut(count, is_detail);
    if (count == 0) return;
  }
}

void BoundedTree::DropAllBut(uint32_t count, const IsDetail& is_detail) {
  std::vector<bool> kept = ChooseKept(count);
  std::vector<int64_t> lost = losses_.back();
  // From the leaves up, so that a dropped node has the values of all below it when its turn comes.
  for (uint32_t node = size(); node-- > 1;) {
    if (kept[node]) continue;
    ++pruned_nodes_;
    const uint32_t parent = parents_[node];
    if (kept[parent] && symbols_[node] != kOther) {
      for (uint32_t column = 0; column < columns(); ++column) {
        const int64_t most = SaturatingAdd(selfs_[column][node], losses_[epochs_[node]][column]);
        lost[column] = std::max(lost[column], most);
      }
    }
    const bool is_below_dropped = !kept[parent];
    if (is_below_dropped || (is_detail && is_detail(symbols_[node]))) {
      MoveSelf(node, parent);
    } else if (const uint32_t other = FindChild(parent, kOther); other != IdSet::kNone) {
      MoveSelf(node, other);
    } else {
      // The node becomes the `other` node.
      symbols_[node] = kOther;
      epochs_[node] = 0;
      children_.Insert(HashOf(parent, kOther), node);
      kept[node] = true;
    }
  }
  losses_.push_back(std::move(lost));
  Compact(kept);
}

void BoundedTree::MoveSelf(uint32_t from, uint32_t to) {
  for (GrowingArray<int64_t>& selfs : selfs_) selfs[to] += std::exchange(selfs[from], 0);
}

void BoundedTree::Compact(const std::vector<bool>& kept) {
  std::vector<uint32_t> moved_to(size());
  uint32_t next = 0;
  for (uint32_t node = 0; node < size(); ++node) {
    if (!kept[node]) continue;
    moved_to[node] = next;
    parents_[next] = moved_to[parents_[node]];
    symbols_[next] = symbols_[node];
    epochs_[next] = epochs_[node];
    for (GrowingArray<int64_t>& selfs : selfs_) selfs[next] = selfs[node];
    ++next;
  }
  parents_.truncate(next);
  symbols_.truncate(next);
  epochs_.truncate(next);
  for (GrowingArray<int64_t>& selfs : selfs_) selfs.truncate(next);
  Reindex();
}

void BoundedTree::Reindex() {
  children_ = IdSet();
  children_.Reserve(std::max(size(), max_nodes_));
  for (uint32_t node = 1; node < size(); ++node)
    children_.Insert(HashOf(parents_[node], symbols_[node]), node);
}

double BoundedTree::max_missing_share() const {
  double share = 0;
  for (uint32_t column = 0; column < columns(); ++column) {
    if (sums_[column] == 0) continue;
    share =
        std::max(share, static_cast<double>(missing(column)) / static_cast<double>(sums_[column]));
  }
  return share;
}

void BoundedTree::Recount(const IsDetail& is_detail) {
  PruneTo(max_nodes_ / 2, is_detail);
  is_recounting_ = true;
  for (uint32_t column = 0; column < columns(); ++column) ClearColumn(column);
}

void BoundedTree::ClearColumn(uint32_t column) {
  std::fill_n(selfs_[column].data(), selfs_[column].size(), 0);
  sums_[column] = 0;
}

void BoundedTree::DropEmpty() {
  std::vector<bool> kept(size());
  kept[kRoot] = true;
  for (uint32_t column = 0; column < columns(); ++column) {
    const GrowingArray<int64_t> totals = Totals(column);
    for (uint32_t node = 1; node < size(); ++node) kept[node] = kept[node] || totals[node] != 0;
  }
  Compact(kept);
}

void BoundedTree::MapSymbols(const std::function<uint32_t(uint32_t symbol)>& map) {
  for (uint32_t node = 1; node < size(); ++node) {
    if (symbols_[node] != kOther) symbols_[node] = map(symbols_[node]);
  }
  Reindex();
}

}  // namespace firetower::profile
