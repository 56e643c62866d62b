// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "profile/table/stack_view.h"
#include "profile/tree/bounded_tree.h"
#include "profile/tree/stack_walker.h"

namespace firetower::profile {

// The samples of a profile that is too large to be held exactly: a bounded tree of their stacks.
// Light samples first lose their labels, then the end of their stack, which becomes `other`. Used
// by one thread.
class CoarseSamples {
 public:
  // Holds `width` values for each sample, and takes about `max_bytes`.
  CoarseSamples(size_t width, size_t max_bytes);

  // Adds a sample. `labels` is the number of a set of labels, below 2^31, or kNoLabels. Values must
  // not be negative. Returns the number of values that were dropped because their sum would pass
  // 2^63.
  static constexpr uint32_t kNoLabels = UINT32_MAX;
  uint32_t Add(const StackView& leaf_first, std::span<const int64_t> values, uint32_t labels);

  // See BoundedTree.
  bool is_pruned() const { return tree_.is_pruned(); }
  bool is_recounting() const { return tree_.is_recounting(); }
  int64_t Total(uint32_t column) const { return tree_.sum(column); }
  void Recount();
  // The largest share, from 0 to 1, of all values of one column that a stack which was cut can
  // have.
  double max_hidden_share() const { return tree_.max_missing_share(); }
  // Cuts the lightest stacks until all stacks together take at most `max_stack_bytes`.
  void Fit(size_t max_stack_bytes);

  struct Emitted {
    std::span<const uint32_t> leaf_first;  // kOther where it was cut
    std::span<const int64_t> values;
    uint32_t labels = kNoLabels;
  };
  static constexpr uint32_t kOther = BoundedTree::kOther;
  void ForEach(const std::function<void(const Emitted& sample)>& visit) const;

 private:
  size_t StackBytes() const;
  bool HasValue(uint32_t node) const;

  BoundedTree tree_;
  StackWalker walker_;
};

}  // namespace firetower::profile
