// SPDX-License-Identifier: Apache-2.0
#include "profile/tree/coarse_samples.h"

#include <algorithm>
#include <array>
#include <vector>

namespace firetower::profile {
namespace {

// Marks symbols that are sets of labels; the others are locations.
constexpr uint32_t kLabelsBit = 1u << 31;

bool IsLabels(uint32_t symbol) {
  return symbol != BoundedTree::kOther && (symbol & kLabelsBit) != 0;
}

// BoundedTree's own figure, while it prunes.
uint32_t NodesWithin(size_t max_bytes, size_t width) {
  const size_t node_bytes = (30 + 8 * width) * 4 / 3;
  return static_cast<uint32_t>(std::clamp<size_t>(max_bytes / node_bytes, 1024, 1u << 30));
}

}  // namespace

CoarseSamples::CoarseSamples(size_t width, size_t max_bytes)
    : tree_(static_cast<uint32_t>(width), NodesWithin(max_bytes, width)) {}

uint32_t CoarseSamples::Add(const StackView& leaf_first, std::span<const int64_t> values,
                            uint32_t labels) {
  uint32_t node =
      walker_.NodeOf(tree_, leaf_first, [](uint32_t location) { return std::array{location}; });
  if (labels != kNoLabels) {
    const uint32_t symbol = labels | kLabelsBit;
    const uint32_t labelled =
        tree_.is_recounting() ? tree_.FindChild(node, symbol) : tree_.ChildOf(node, symbol);
    if (labelled != IdSet::kNone) node = labelled;
  }
  uint32_t refused = 0;
  for (uint32_t column = 0; column < values.size(); ++column) {
    if (!tree_.AddTo(node, column, values[column])) ++refused;
  }
  if (tree_.IsFull() && !tree_.is_recounting()) {
    tree_.Prune(IsLabels);
    walker_.Forget();
  }
  return refused;
}

void CoarseSamples::Recount() {
  tree_.Recount(IsLabels);
  walker_.Forget();
}

bool CoarseSamples::HasValue(uint32_t node) const {
  for (uint32_t column = 0; column < tree_.columns(); ++column) {
    if (tree_.self(node, column) != 0) return true;
  }
  return false;
}

size_t CoarseSamples::StackBytes() const {
  std::vector<uint32_t> depths(tree_.size());
  size_t frames = 0;
  for (uint32_t node = 1; node < tree_.size(); ++node) {
    depths[node] = depths[tree_.parent(node)] + 1;
    if (HasValue(node)) frames += depths[node];
  }
  return frames * sizeof(uint32_t);
}

void CoarseSamples::Fit(size_t max_stack_bytes) {
  // A thousand stacks take little memory.
  constexpr uint32_t kFewNodes = 1024;
  while (tree_.size() > kFewNodes && StackBytes() > max_stack_bytes)
    tree_.PruneTo(tree_.size() / 2, IsLabels);
  walker_.Forget();
}

void CoarseSamples::ForEach(const std::function<void(const Emitted& sample)>& visit) const {
  std::vector<uint32_t> stack;
  std::vector<int64_t> values(tree_.columns());
  for (uint32_t node = 0; node < tree_.size(); ++node) {
    if (!HasValue(node)) continue;
    Emitted sample;
    stack.clear();
    for (uint32_t at = node; at != BoundedTree::kRoot; at = tree_.parent(at)) {
      if (IsLabels(tree_.symbol(at))) {
        sample.labels = tree_.symbol(at) & ~kLabelsBit;
      } else {
        stack.push_back(tree_.symbol(at));
      }
    }
    for (uint32_t column = 0; column < values.size(); ++column)
      values[column] = tree_.self(node, column);
    sample.leaf_first = stack;
    sample.values = values;
    visit(sample);
  }
}

}  // namespace firetower::profile
