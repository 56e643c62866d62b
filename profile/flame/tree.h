// SPDX-License-Identifier: Apache-2.0
// The tree of a profile by function: stacks that begin alike share their nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/flame/names.h"
#include "profile/profile.h"
#include "profile/table/id_set.h"
#include "profile/table/interner.h"
#include "profile/table/record_interner.h"

namespace firetower::profile {

// One function name may stand for frames of several kinds; each is a frame of its own.
enum class FrameKind : uint32_t { kUser, kKernel, kJit, kInlined, kTotal, kOther };

// What one node per parent is made for: a name in a binary, not an address. Both are strings of the
// tree; the module is the binary's path, may be empty.
struct FlameFrame {
  uint32_t name = 0;
  uint32_t module = 0;
  FrameKind kind = FrameKind::kUser;
};

// Immutable. Nodes are dense indices: 0 is the root, `total`, and a parent stands before its
// children. Every value is 0 or more.
struct FlameTree {
  Pool<char> strings;
  GrowingArray<FlameFrame> frames;
  std::vector<uint32_t> parents;   // of node 0: 0
  std::vector<uint32_t> frame_of;  // index in `frames`
  std::vector<int64_t> selfs;      // value of samples that end there
  std::vector<int64_t> totals;     // of those that pass there as well
  // Of the profile that is compared with; empty in a tree of one profile.
  std::vector<int64_t> left_selfs;
  std::vector<int64_t> left_totals;

  uint32_t size() const { return static_cast<uint32_t>(parents.size()); }
  bool is_diff() const { return !left_totals.empty(); }
  std::string_view string(uint32_t id) const {
    std::span<const char> text = strings.Get(id);
    return {text.data(), text.size()};
  }
};

// Used by one thread. Time and memory are linear in the frames of all distinct stacks, 50 bytes a
// node; nothing recurses, however deep a stack is.
class FlameTreeBuilder {
 public:
  // About 200 MB, for who asked for one profile himself.
  static constexpr uint32_t kMaxNodes = 1u << 22;
  enum class Side { kLeft, kRight };

  explicit FlameTreeBuilder(NameDetail names, uint32_t max_nodes = kMaxNodes);

  // Adds the value `value_index` (below sample_types().size()) of all samples. Profiles of one side
  // add up; the right one is what is looked at, the left one, if any, what it is compared with.
  // kUnsupported for a negative value (the profile is a difference already), kExhausted past
  // max_nodes or 2^63; the tree is not to be used then.
  Status Add(const Profile& profile, uint32_t value_index, Side side = Side::kRight);

  FlameTree Build() &&;

 private:
  struct Step {
    uint32_t location = 0;
    uint32_t node = 0;
  };
  uint32_t FrameOf(std::string_view name, std::string_view module, FrameKind kind);
  // Frames of each location, outermost first.
  Pool<uint32_t> FramesOf(const Profile& profile);
  // IdSet::kNone when there is no room.
  uint32_t NodeOf(const StackView& locations, const Pool<uint32_t>& frames);
  uint32_t ChildOf(uint32_t parent, uint32_t frame);

  const NameDetail detail_;
  const uint32_t max_nodes_;
  Interner<char> strings_;
  RecordInterner<FlameFrame> frames_;
  IdSet children_;  // nodes, found by parent and frame
  FlameTree tree_;
  int64_t sums_[2] = {0, 0};
  bool has_left_ = false;
  std::vector<Step> path_;  // of the stack before: neighbours share most of it
};

}  // namespace firetower::profile
