// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/suggest.h"

namespace firetower::profile {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

class Layouter {
 public:
  Layouter(const FlameTree& tree, const FlameCut& cut, SiblingOrder order)
      : tree_(tree), limits_(cut), order_(order) {}

  FlameLevels Run() {
    ChooseKept();
    ListChildren();
    RankFrames();
    AddBar(0, tree_.frame_of[0], kNone, Values(0), Values(0, true));
    levels_.level_starts.push_back(0);
    for (size_t begin = 0; begin < levels_.bars.size();) {
      size_t end = levels_.bars.size();
      for (size_t bar = begin; bar < end; ++bar) AddChildren(static_cast<uint32_t>(bar));
      levels_.level_starts.push_back(static_cast<uint32_t>(end));
      begin = end;
    }
    return std::move(levels_);
  }

 private:
  struct Value {
    int64_t total = 0;
    int64_t self = 0;
  };

  Value Values(uint32_t node, bool left = false) const {
    if (!left) return {tree_.totals[node], tree_.selfs[node]};
    return tree_.is_diff() ? Value{tree_.left_totals[node], tree_.left_selfs[node]} : Value{};
  }

  // Tells whether a node replaces dropped nodes: it is drawn together with the nodes cut here.
  bool IsOther(uint32_t node) const {
    return tree_.frames[tree_.frame_of[node]].kind == FrameKind::kOther;
  }

  // How much of the picture a node is; never more than its parent.
  int64_t Weight(uint32_t node) const {
    int64_t left = tree_.is_diff() ? tree_.left_totals[node] : 0;
    return SaturatingAdd(tree_.totals[node], left);
  }

  // Among nodes with equal weights keeps the earlier ones. A parent comes before its children and
  // weighs at least as much, so every kept node has a kept parent.
  void ChooseKept() {
    kept_.assign(tree_.size(), true);
    std::vector<int64_t> weights;  // of those that are large enough
    for (uint32_t node = 1; node < tree_.size(); ++node) {
      if (IsOther(node)) continue;
      if (Weight(node) >= limits_.min_total) weights.push_back(Weight(node));
    }
    int64_t limit = limits_.min_total;  // what weighs as much is kept while there is room
    uint32_t room = tree_.size();
    if (limits_.max_bars > 0 && weights.size() > limits_.max_bars) {
      auto last = weights.begin() + (limits_.max_bars - 1);
      std::ranges::nth_element(weights, last, std::greater<>());
      limit = *last;
      room = limits_.max_bars -
             static_cast<uint32_t>(std::count_if(weights.begin(), last,
                                                 [&](int64_t weight) { return weight > limit; }));
    }
    levels_.cut_nodes = tree_.pruned_nodes;
    levels_.max_hidden = tree_.max_hidden;
    levels_.max_hidden_share = tree_.max_hidden_share;
    for (uint32_t node = 1; node < tree_.size(); ++node) {
      if (IsOther(node)) {
        kept_[node] = false;
        continue;
      }
      int64_t weight = Weight(node);
      bool fits = weight == limit && room > 0;
      kept_[node] = weight > limit || fits;
      room -= fits ? 1 : 0;
      levels_.cut_nodes += kept_[node] ? 0 : 1;
    }
  }

  // Lists the kept children of each node one after another, and sums the cut nodes directly below a
  // kept node.
  void ListChildren() {
    child_ends_.assign(tree_.size() + size_t{1}, 0);
    if (std::ranges::count(kept_, false) > 0)
      cut_.resize(tree_.size() * (tree_.is_diff() ? size_t{2} : 1));
    for (uint32_t node = 1; node < tree_.size(); ++node) {
      uint32_t parent = tree_.parents[node];
      if (kept_[node]) {
        ++child_ends_[parent + 1];
      } else if (kept_[parent]) {
        cut_[parent] += tree_.totals[node];
        if (tree_.is_diff()) cut_[tree_.size() + parent] += tree_.left_totals[node];
      }
    }
    std::partial_sum(child_ends_.begin(), child_ends_.end(), child_ends_.begin());
    children_.resize(child_ends_.back());
    std::vector<uint32_t> next(child_ends_.begin(), child_ends_.end() - 1);
    for (uint32_t node = 1; node < tree_.size(); ++node) {
      if (kept_[node]) children_[next[tree_.parents[node]]++] = node;
    }
  }

  // Sorts the frames that are shown once, so that siblings are compared by a number.
  void RankFrames() {
    std::vector<uint32_t> used;
    std::vector<bool> seen(tree_.frames.size());
    for (uint32_t node = 1; node < tree_.size(); ++node) {
      uint32_t frame = tree_.frame_of[node];
      if (!kept_[node] || seen[frame]) continue;
      seen[frame] = true;
      used.push_back(frame);
    }
    auto key = [&](uint32_t id) {
      const FlameFrame& frame = tree_.frames[id];
      return std::tuple(tree_.string(frame.name), tree_.string(frame.module), frame.kind);
    };
    std::ranges::sort(used, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    ranks_.resize(tree_.frames.size());
    for (uint32_t rank = 0; rank < used.size(); ++rank) ranks_[used[rank]] = rank;
    name_of_frame_.assign(tree_.frames.size(), kNone);
  }

  void AddChildren(uint32_t bar) {
    uint32_t node = nodes_[bar];
    if (node == kNone) return;  // an `other`
    std::span<uint32_t> children(children_.data() + child_ends_[node],
                                 child_ends_[node + 1] - child_ends_[node]);
    std::ranges::sort(children, [&](uint32_t a, uint32_t b) {
      if (order_ == SiblingOrder::kValue && Weight(a) != Weight(b)) return Weight(a) > Weight(b);
      return ranks_[tree_.frame_of[a]] < ranks_[tree_.frame_of[b]];
    });
    next_x_ = levels_.bars[bar].x;
    next_left_x_ = tree_.is_diff() ? levels_.left[bar].x : 0;
    for (uint32_t child : children) {
      AddBar(child, tree_.frame_of[child], bar, Values(child), Values(child, true));
    }
    if (cut_.empty()) return;
    int64_t cut = cut_[node];
    int64_t left_cut = tree_.is_diff() ? cut_[tree_.size() + node] : 0;
    if (cut > 0 || left_cut > 0) AddBar(kNone, kNone, bar, {cut, cut}, {left_cut, left_cut});
  }

  void AddBar(uint32_t node, uint32_t frame, uint32_t parent, Value value, Value left) {
    nodes_.push_back(node);
    levels_.name_of.push_back(frame == kNone ? OtherName() : NameOf(frame));
    levels_.parent_of.push_back(parent == kNone ? 0 : parent);
    levels_.bars.push_back({next_x_, value.total, value.self});
    next_x_ += value.total;
    if (!tree_.is_diff()) return;
    levels_.left.push_back({next_left_x_, left.total, left.self});
    next_left_x_ += left.total;
  }

  uint32_t NameOf(uint32_t frame_id) {
    uint32_t& name = name_of_frame_[frame_id];
    if (name == kNone) {
      name = static_cast<uint32_t>(levels_.names.size());
      const FlameFrame& frame = tree_.frames[frame_id];
      levels_.names.push_back({std::string(tree_.string(frame.name)),
                               std::string(tree_.string(frame.module)), frame.kind,
                               frame_id < tree_.domains.size() ? tree_.domains[frame_id] : '\0'});
    }
    return name;
  }
  uint32_t OtherName() {
    if (other_name_ == kNone) {
      other_name_ = static_cast<uint32_t>(levels_.names.size());
      levels_.names.push_back({"other", "", FrameKind::kOther});
    }
    return other_name_;
  }

  const FlameTree& tree_;
  const FlameCut limits_;
  const SiblingOrder order_;
  FlameLevels levels_;
  std::vector<bool> kept_;
  std::vector<uint32_t> child_ends_;  // in children_; of node i at i + 1
  std::vector<uint32_t> children_;
  std::vector<int64_t> cut_;  // of each node, then of each node's left side; empty: nothing is cut
  std::vector<uint32_t> ranks_;          // of frames
  std::vector<uint32_t> name_of_frame_;  // kNone: not shown yet
  std::vector<uint32_t> nodes_;          // of bars; kNone: `other`
  uint32_t other_name_ = kNone;
  int64_t next_x_ = 0;
  int64_t next_left_x_ = 0;
};

}  // namespace

Result<SiblingOrder> ParseSiblingOrder(std::string_view text) {
  if (text == "name") return SiblingOrder::kName;
  if (text == "value") return SiblingOrder::kValue;
  constexpr std::string_view kOrders[] = {"name", "value"};
  return Error(ErrorCode::kInvalid,
               fmt::format("'{}' must be name or value{}", text, DidYouMean(text, kOrders)));
}

FlameLevels LayOutFlame(const FlameTree& tree, const FlameCut& cut, SiblingOrder order) {
  return Layouter(tree, cut, order).Run();
}

}  // namespace firetower::profile
