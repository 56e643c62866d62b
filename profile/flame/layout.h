// SPDX-License-Identifier: Apache-2.0
// A flame graph as levels of bars, ready to be drawn or sent. Small bars are already cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/flame/tree.h"

namespace firetower::profile {

// The order of a bar's children from left to right; `other` is always the last.
enum class SiblingOrder {
  kName,   // keeps its place when values change: for comparing
  kValue,  // largest first
};

// Parses "name" or "value"; anything else is kInvalid.
Result<SiblingOrder> ParseSiblingOrder(std::string_view text);

// The name of a bar: a function in one binary. Bars of the same name share it.
struct FlameName {
  std::string text = {};
  std::string module = {};  // the binary's path, may be empty
  FrameKind kind = FrameKind::kUser;
  char domain = 0;  // FlameTree's
};

// A bar, in the value's unit. A child lies within its parent: it begins at or after the parent's x,
// and ends at or before the parent's end.
struct FlameBar {
  int64_t x = 0;  // from the graph's left edge
  int64_t total = 0;
  int64_t self = 0;  // not covered by children; at the bar's right end
};

// Bars have dense indices, level by level, and from left to right within a level. The `self` values
// of all bars add up to the total of the first bar, which is the total of the profile.
struct FlameLevels {
  std::vector<FlameName> names;   // [0] is `total`
  std::vector<uint32_t> name_of;  // of each bar
  std::vector<uint32_t> parent_of;
  std::vector<FlameBar> bars;
  std::vector<FlameBar> left;                   // of the profile that is compared with; else empty
  std::vector<uint32_t> level_starts;           // and at the end the number of bars
  uint64_t cut_nodes = 0;                       // that went into `other`
  int64_t max_hidden = 0;                       // FlameTree's
  std::optional<double> max_hidden_share = {};  // FlameTree's

  size_t level_count() const { return level_starts.size() - 1; }
  int64_t total() const { return bars[0].total; }
};

// Selects the nodes that are shown: the `max_bars` with the largest totals (0: all) among those
// with at least `min_total`. In a diff the totals of both sides count together.
struct FlameCut {
  uint32_t max_bars = 0;
  int64_t min_total = 0;
};

// Lays out the root and the selected nodes. The nodes cut below one of them become one bar `other`
// of kind kOther under it, so that sums stay exact; these bars do not count towards max_bars.
// Linear time, apart from sorting siblings and names.
FlameLevels LayOutFlame(const FlameTree& tree, const FlameCut& cut, SiblingOrder order);

}  // namespace firetower::profile
