// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/folded.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/diff.h"
#include "profile/export.h"

namespace firetower::profile {
namespace {

std::string FoldedName(std::string name) {
  std::ranges::replace(name, ';', ':');
  std::ranges::replace_if(
      name, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return name;
}

// Each location's text once, outermost inlined function first.
std::vector<std::string> FrameTexts(const Profile& profile, const FoldedOptions& options) {
  std::vector<std::string> frames(profile.location_count());
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    Location location = profile.location(i);
    const bool kernel = options.mark_kernel && profile.IsKernel(location);
    const size_t outermost = std::max<size_t>(location.lines.size(), 1) - 1;
    for (size_t line = outermost + 1; line-- > 0;) {
      if (!frames[i].empty()) frames[i] += ';';
      frames[i] += FoldedName(profile.FrameName(location, line));
      if (options.mark_inlined && line < outermost) {
        frames[i] += kInlinedSuffix;
      } else if (kernel) {
        frames[i] += kKernelSuffix;
      }
    }
  }
  return frames;
}

std::string StackText(const Sample& sample, const std::vector<std::string>& frames) {
  std::string stack;
  for (size_t at = sample.locations.size(); at-- > 0;) {
    if (!stack.empty()) stack += ';';
    stack += frames[sample.locations[at]];
  }
  return stack.empty() ? std::string(kNoStack) : stack;
}

}  // namespace

std::string ToFolded(const Profile& profile, uint32_t value_index, const FoldedOptions& options) {
  const std::vector<std::string> frames = FrameTexts(profile, options);
  std::map<std::string, int64_t> sums;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    int64_t& sum = sums[StackText(sample, frames)];
    sum = SaturatingAdd(sum, sample.values[value_index]);
  }
  std::string out;
  for (const auto& [stack, value] : sums) {
    if (value != 0) out += stack + ' ' + std::to_string(value) + '\n';
  }
  return out;
}

std::string ToFoldedDiff(const Profile& diff, uint32_t value_index, const FoldedOptions& options) {
  const std::vector<std::string> frames = FrameTexts(diff, options);
  std::map<std::string, std::pair<int64_t, int64_t>> sums;  // before, after
  for (uint32_t i = 0; i < diff.sample_count(); ++i) {
    Sample sample = diff.sample(i);
    const int64_t value = sample.values[value_index];
    auto& [before, after] = sums[StackText(sample, frames)];
    if (IsBaseSample(diff, sample)) {
      before = SaturatingAdd(before, -std::max(value, -INT64_MAX));
    } else {
      after = SaturatingAdd(after, value);
    }
  }
  std::string out;
  for (const auto& [stack, counts] : sums) {
    const auto& [before, after] = counts;
    if (before == 0 && after == 0) continue;
    out += stack + ' ' + std::to_string(before) + ' ' + std::to_string(after) + '\n';
  }
  return out;
}

}  // namespace firetower::profile
