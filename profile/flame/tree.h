// SPDX-License-Identifier: Apache-2.0
// The tree of a profile by function: stacks that begin with the same frames share their nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/flame/names.h"
#include "profile/profile.h"
#include "profile/table/interner.h"
#include "profile/table/record_interner.h"
#include "profile/tree/bounded_tree.h"
#include "profile/tree/stack_walker.h"

namespace firetower::profile {

// The kind of a frame. A function name may occur in frames of several kinds, which stay separate
// frames.
enum class FrameKind : uint32_t { kUser, kKernel, kJit, kInlined, kTotal, kOther };

// The identity of a frame: a name in a binary, not an address. A node has one child per frame. Both
// are strings of the tree; the module is the binary's path and may be empty.
struct FlameFrame {
  uint32_t name = 0;
  uint32_t module = 0;
  FrameKind kind = FrameKind::kUser;
};

// Immutable tree. Nodes have dense indices: 0 is the root, `total`, and a parent comes before its
// children. No value is negative.
struct FlameTree {
  Pool<char> strings;
  GrowingArray<FlameFrame> frames;
  std::vector<char> domains;        // a letter a frame, 0 where nobody said; may be shorter
  GrowingArray<uint32_t> parents;   // of node 0: 0
  GrowingArray<uint32_t> frame_of;  // index in `frames`
  GrowingArray<int64_t> selfs;      // value of samples that end there
  GrowingArray<int64_t> totals;     // of those that pass there as well
  // Of the profile that is compared with; empty in a tree of one profile.
  GrowingArray<int64_t> left_selfs;
  GrowingArray<int64_t> left_totals;
  // The number of nodes that were dropped while the tree grew; nodes of kind kOther hold their
  // values.
  uint64_t pruned_nodes = 0;
  // The largest value that a dropped node can have; in a diff, on either side.
  int64_t max_hidden = 0;
  // The largest share of its side's total that a dropped node can have, from 0 to 1; nothing if no
  // node was dropped.
  std::optional<double> max_hidden_share = {};

  uint32_t size() const { return static_cast<uint32_t>(parents.size()); }
  bool is_diff() const { return !left_totals.empty(); }
  std::string_view string(uint32_t id) const {
    std::span<const char> text = strings.Get(id);
    return {text.data(), text.size()};
  }
};

class PprofReader;

// Returns a letter for whose code it is, by the path of the binary and that of the source file, or
// "".
using DomainLetter = char (*)(std::string_view module, std::string_view source);

// Builds a FlameTree of any number of profiles in bounded memory: small nodes are merged into nodes
// of kind kOther while the tree grows (profile/tree/bounded_tree.h). Totals stay exact. To make the
// value of each node exact too, add the same profiles again when Recount() returns true.
//
// Used by one thread. Time is linear in the frames of all stacks. There is no recursion, however
// deep a stack is. Memory: some 60 bytes per node, max_text_bytes of names, and the frames of one
// profile.
class FlameTreeBuilder {
 public:
  // About 150 MB including the text. With this limit, stacks of 600 frames that all differ lose no
  // bar of 0.1 %. The arrays of a tree grow by doubling: with the frames of one more stack this is
  // within 2^21.
  static constexpr uint32_t kMaxNodes = 2'090'000;
  static constexpr size_t kMaxTextBytes = size_t{32} << 20;
  enum class Side { kRight, kLeft };

  explicit FlameTreeBuilder(NameDetail names, uint32_t max_nodes = kMaxNodes,
                            size_t max_text_bytes = kMaxTextBytes);

  // Names whose code each frame is, in what is added from now on; kernel frames are 'k'. Of frames
  // that differ by their source alone the first one counts.
  void NameDomains(DomainLetter letter) { domain_letter_ = letter; }

  // Adds the value `value_index` (below sample_types().size()) of all samples. Profiles of one side
  // add up; the right side is the one shown, the left side the one it is compared with, if any.
  // kUnsupported: a negative value (the profile is a difference already). kExhausted: a sum passes
  // 2^63; the tree must not be used then.
  Status Add(const Profile& profile, uint32_t value_index, Side side = Side::kRight);
  // Does the same with a pprof file that was read.
  Status Add(PprofReader& profile, uint32_t value_index, Side side = Side::kRight);

  // Returns true once if nodes were dropped. Then the caller must add everything again; only after
  // that does each node that is left have its exact value.
  bool Recount();

  // Forgets the values of one side; the tree then has that side. A recount goes on.
  void Clear(Side side);
  // Forgets everything, and ends a recount.
  void Restart();
  // Returns the sum of the values of one side.
  int64_t Total(Side side) const;

  FlameTree Build() &&;

 private:
  template <typename Source>
  Status AddSource(Source& source, uint32_t value_index, Side side);
  uint32_t FrameOf(std::string_view name, std::string_view module, FrameKind kind, char domain = 0);
  template <typename Source>
  char DomainOf(const Source& source, const Location& location, size_t line, FrameKind kind,
                std::string_view module) const;
  // Returns an existing frame, or kNoFrame, which no node has.
  uint32_t FindFrame(std::string_view name, std::string_view module, FrameKind kind) const;
  // Lists the frames of each location, outermost first.
  template <typename Source>
  Pool<uint32_t> FramesOf(const Source& source);
  // Keeps the names within their budget: drops names that no node uses, then nodes.
  void BoundText();
  void DropUnusedFrames();
  static constexpr uint32_t kNoFrame = BoundedTree::kOther - 1;
  size_t text_bytes() const { return strings_.bytes() + frames_.bytes(); }

  const NameDetail detail_;
  const uint32_t max_nodes_;
  const size_t max_text_bytes_;
  Interner<char> strings_;
  RecordInterner<FlameFrame> frames_;
  std::vector<char> domains_;  // of frames_
  DomainLetter domain_letter_ = nullptr;
  BoundedTree tree_;  // its symbols are frames, its columns sides
  StackWalker walker_;
  bool has_empty_ = false;  // some nodes may have no value
};

}  // namespace firetower::profile
