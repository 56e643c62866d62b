// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

namespace firetower::profile {
namespace {

// What the daemon and perf call memory that a runtime wrote code to.
bool IsJitModule(std::string_view path) {
  return path == "[jit]" || path == "[JIT]" || path.starts_with("//anon") ||
         (path.starts_with("/tmp/perf-") && path.ends_with(".map"));
}

FrameKind KindOf(const Profile& profile, const Location& location, std::string_view module,
                 size_t line) {
  if (profile.IsKernel(location)) return FrameKind::kKernel;
  if (IsJitModule(module)) return FrameKind::kJit;
  // Lines are innermost first: only the last one is a function that was called.
  return line + 1 < location.lines.size() ? FrameKind::kInlined : FrameKind::kUser;
}

uint32_t HashOf(uint32_t parent, uint32_t frame) {
  uint64_t key = (uint64_t{parent} << 32 | frame) * 0x9E3779B97F4A7C15ull;
  return static_cast<uint32_t>(key >> 32);
}

Error Negative() {
  return Error(ErrorCode::kUnsupported,
               "a value is negative, as in a difference of two profiles: a flame graph shows what "
               "adds up; give the two profiles instead");
}

}  // namespace

FlameTreeBuilder::FlameTreeBuilder(NameDetail names, uint32_t max_nodes)
    : detail_(names), max_nodes_(max_nodes) {
  FrameOf("", "", FrameKind::kUser);  // string 0 is the empty one
  tree_.parents.push_back(0);
  tree_.frame_of.push_back(FrameOf("total", "", FrameKind::kTotal));
  tree_.selfs.push_back(0);
  tree_.left_selfs.push_back(0);
}

uint32_t FlameTreeBuilder::FrameOf(std::string_view name, std::string_view module, FrameKind kind) {
  FlameFrame frame;
  frame.name = strings_.Intern(std::span(name.data(), name.size()));
  frame.module = strings_.Intern(std::span(module.data(), module.size()));
  frame.kind = kind;
  return frames_.Intern(frame);
}

Pool<uint32_t> FlameTreeBuilder::FramesOf(const Profile& profile) {
  Pool<uint32_t> frames;
  frames.Reserve(profile.location_count(), profile.location_count());
  std::vector<uint32_t> own;
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    Location location = profile.location(i);
    std::string_view module;
    if (location.mapping != kNoMapping) {
      module = profile.string(profile.mapping(location.mapping).filename);
    }
    own.clear();
    for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;) {
      std::string name = SimplifyName(profile.FrameName(location, line), detail_);
      own.push_back(FrameOf(name, module, KindOf(profile, location, module, line)));
    }
    frames.Append(own);
  }
  return frames;
}

uint32_t FlameTreeBuilder::ChildOf(uint32_t parent, uint32_t frame) {
  uint32_t hash = HashOf(parent, frame);
  uint32_t node = tree_.size();
  // The newest node has no children yet: the rest of a stack that left the known ways is all new.
  if (parent + 1 != node) {
    uint32_t found = children_.Find(hash, [&](uint32_t child) {
      return tree_.parents[child] == parent && tree_.frame_of[child] == frame;
    });
    if (found != IdSet::kNone) return found;
  }
  if (node >= max_nodes_) return IdSet::kNone;
  tree_.parents.push_back(parent);
  tree_.frame_of.push_back(frame);
  tree_.selfs.push_back(0);
  tree_.left_selfs.push_back(0);
  children_.Insert(hash, node);
  return node;
}

uint32_t FlameTreeBuilder::NodeOf(const StackView& locations, const Pool<uint32_t>& frames) {
  if (locations.empty()) return ChildOf(0, FrameOf("[no stack]", "", FrameKind::kUser));
  auto location_at = [&](size_t depth) { return locations[locations.size() - 1 - depth]; };
  size_t depth = 0;
  size_t shared = std::min(path_.size(), locations.size());
  while (depth < shared && path_[depth].location == location_at(depth)) ++depth;
  path_.resize(depth);
  uint32_t node = depth == 0 ? 0 : path_.back().node;
  for (; depth < locations.size(); ++depth) {
    for (uint32_t frame : frames.Get(location_at(depth))) {
      node = ChildOf(node, frame);
      if (node == IdSet::kNone) return node;
    }
    path_.push_back({location_at(depth), node});
  }
  return node;
}

Status FlameTreeBuilder::Add(const Profile& profile, uint32_t value_index, Side side) {
  const Pool<uint32_t> frames = FramesOf(profile);
  path_.clear();  // its locations were another profile's
  has_left_ = has_left_ || side == Side::kLeft;
  std::vector<int64_t>& selfs = side == Side::kLeft ? tree_.left_selfs : tree_.selfs;
  int64_t& sum = sums_[side == Side::kLeft ? 0 : 1];
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    int64_t value = sample.values[value_index];
    if (value == 0) continue;
    if (value < 0) return Negative();
    // No node holds more than the root, so that this one look is enough.
    if (__builtin_add_overflow(sum, value, &sum)) {
      return Error(ErrorCode::kExhausted, "the values add up to more than 2^63");
    }
    uint32_t node = NodeOf(sample.locations, frames);
    if (node == IdSet::kNone) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("the stacks make more than {} nodes: narrow the selector or the "
                               "time range",
                               max_nodes_));
    }
    selfs[node] += value;
  }
  return OkStatus();
}

FlameTree FlameTreeBuilder::Build() && {
  tree_.strings = std::move(strings_).TakePool();
  tree_.frames = std::move(frames_).TakeRecords();
  if (!has_left_) tree_.left_selfs.clear();
  tree_.totals = tree_.selfs;
  tree_.left_totals = tree_.left_selfs;
  // Children come after their parents, so that each total is whole when it is passed on.
  for (uint32_t node = tree_.size(); node-- > 1;) {
    tree_.totals[tree_.parents[node]] += tree_.totals[node];
    if (has_left_) tree_.left_totals[tree_.parents[node]] += tree_.left_totals[node];
  }
  return std::move(tree_);
}

}  // namespace firetower::profile
