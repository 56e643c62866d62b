// SPDX-License-Identifier: Apache-2.0
// Comments in profiles, and the comments of merged profiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// The label of samples whose stack ended early. Its value is the reason.
inline constexpr std::string_view kCutLabel = "cut";
// The labels with the ids of the trace and the span that a sample's thread worked on, in lower-case
// hexadecimal.
inline constexpr std::string_view kTraceLabel = "trace_id";
inline constexpr std::string_view kSpanLabel = "span_id";

// Returns "25.0% of samples have a cut stack: …". `samples` is above 0.
std::string CutComment(int64_t cut, int64_t samples);

// Returns the comment of a coarse sum (ProfileBuilder::Limits). `hidden` is the largest share, from
// 0 to 1, that a stack which was cut can have.
std::string CoarseComment(double hidden);

// Collects the comments of a sum: those of its parts, at most kMax of them, and the number of those
// that were dropped. A comment that a part repeats is repeated as often as in the part with the
// most of it. If a part has a comment about cut stacks, the sum gets one of its own, computed from
// its samples.
class MergedComments {
 public:
  static constexpr size_t kMax = 64;

  void Add(const std::vector<std::string>& comments);
  std::vector<std::string> Of(const Profile& sum) const;

 private:
  // The number of hashes of dropped comments that are kept. Beyond it, equal comments count again.
  static constexpr size_t kMaxLeftOut = 1 << 16;

  std::vector<std::string> kept_;
  std::unordered_set<size_t> left_out_;
  size_t parts_left_out_ = 0;  // the most that a part had left out itself
  bool tells_cut_ = false;
  bool tells_coarse_ = false;  // a part said so of its own whole
};

}  // namespace firetower::profile
