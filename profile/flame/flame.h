// SPDX-License-Identifier: Apache-2.0
// Makes a flame graph of a profile: the part that the formats and the HTTP API share.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "profile/flame/layout.h"
#include "profile/flame/names.h"
#include "profile/profile.h"

namespace firetower::profile {

struct FlameOptions {
  std::string title = {};        // bytes that are not UTF-8 become U+FFFD
  std::string sample_type = {};  // which value; empty: the one that tools show by default
  NameDetail names = NameDetail::kFull;
  SiblingOrder order = SiblingOrder::kName;
  // 0: all; see FlameCut. A browser can still draw this many, in a file of a few megabytes.
  uint32_t max_bars = 100'000;
  double min_share = 0;                  // of the whole, from 0 to 1: what is less is cut too
  bool root_at_bottom = false;           // else on top, as an icicle hangs
  uint32_t svg_width_px = 1200;          // 200 to 20,000
  DomainLetter domain_letter = nullptr;  // null: nothing says whose code a frame is
};

// The base of a comparison, and how much it covers.
struct FlameBase {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  double observed_seconds = 0;
  uint64_t profiles = 0;
};

// The facts about a flame graph beside its bars.
struct FlameInfo {
  std::string title = {};
  ValueType value = {};
  int64_t from_ms = 0;  // Unix time; 0: not known
  int64_t to_ms = 0;
  double observed_seconds = 0;  // that the profiles cover, 0: not known
  uint64_t profiles = 1;        // that were added up
  uint64_t skipped = 0;         // that could not be read
  FlameBase base = {};          // of a comparison
};

struct Flame {
  FlameInfo info;
  FlameLevels levels;
};

// Lays out the tree of `builder` according to `options`.
FlameLevels LayOutWithin(FlameTreeBuilder builder, const FlameOptions& options);

// Makes the flame graph of one profile. kUnsupported: the profile has no value `sample_type`. For
// other errors see FlameTreeBuilder::Add.
Result<Flame> MakeFlame(const Profile& profile, const FlameOptions& options,
                        uint32_t max_tree_nodes = FlameTreeBuilder::kMaxNodes);

// Returns the average number of CPUs that `value` nanoseconds correspond to; 0 where that has no
// meaning.
double CoresOf(const FlameInfo& info, int64_t value);

// Returns the suffix of a name as in FlameGraph's folded stacks: " [k]" for the kernel, " [j]" for
// code that a runtime wrote, " [i]" for inlined functions, "" for the rest.
std::string_view KindMark(FrameKind kind);
// Returns "kernel", "JIT", "inlined" or "".
std::string_view KindWord(FrameKind kind);

// Returns the colour, 0xRRGGBB, of a binary, the same on every machine. Black text is readable on
// it.
uint32_t ColorOf(const FlameName& name);

}  // namespace firetower::profile
