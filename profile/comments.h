// SPDX-License-Identifier: Apache-2.0
// What profiles say for people, and what their sum says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// The label of samples whose stack ended early; its value says why.
inline constexpr std::string_view kCutLabel = "cut";

// "25.0% of samples have a cut stack: …". `samples` is above 0.
std::string CutComment(int64_t cut, int64_t samples);

// Says that a sum is coarse (ProfileBuilder::Limits). `hidden` is the largest share, from 0 to 1,
// that a stack which was cut can have.
std::string CoarseComment(double hidden);

// The comments of a sum: those of its parts, each as often as the part with the most of it has it,
// at most kMax, how many were left out, and once, of the sum's own samples, how many have a cut
// stack, when a part said so of its own.
class MergedComments {
 public:
  static constexpr size_t kMax = 64;

  void Add(const std::vector<std::string>& comments);
  std::vector<std::string> Of(const Profile& sum) const;

 private:
  // Hashes of those that were left out; past so many they are no longer told apart.
  static constexpr size_t kMaxLeftOut = 1 << 16;

  std::vector<std::string> kept_;
  std::unordered_set<size_t> left_out_;
  size_t parts_left_out_ = 0;  // the most that a part had left out itself
  bool tells_cut_ = false;
  bool tells_coarse_ = false;  // a part said so of its own whole
};

}  // namespace firetower::profile
