// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profile/table/stack_view.h"
#include "profile/tree/bounded_tree.h"

namespace firetower::profile {

// Finds the nodes of stacks in a tree. Remembers the path of the last stack, because consecutive
// stacks share most of it.
class StackWalker {
 public:
  // Returns the node at which a stack ends. `symbols_of(location)` returns the symbols of a
  // location, outermost first.
  template <typename SymbolsOf>
  uint32_t NodeOf(BoundedTree& tree, const StackView& leaf_first, const SymbolsOf& symbols_of) {
    auto location_at = [&](size_t depth) { return leaf_first[leaf_first.size() - 1 - depth]; };
    const size_t shared = std::min(path_.size(), leaf_first.size());
    size_t depth = 0;
    while (depth < shared && path_[depth].location == location_at(depth)) ++depth;
    path_.resize(depth);
    uint32_t node = depth == 0 ? BoundedTree::kRoot : path_.back().node;
    for (; depth < leaf_first.size(); ++depth) {
      for (const uint32_t symbol : symbols_of(location_at(depth)))
        node = tree.ChildOf(node, symbol);
      path_.push_back({location_at(depth), node});
    }
    return node;
  }
  // Must be called when the numbers of nodes or of locations have changed.
  void Forget() { path_.clear(); }

 private:
  struct Step {
    uint32_t location = 0;
    uint32_t node = 0;
  };
  std::vector<Step> path_;
};

}  // namespace firetower::profile
