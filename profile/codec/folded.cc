// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profile/export.h"

namespace firetower::profile {
namespace {

std::string FoldedName(std::string name) {
  std::ranges::replace(name, ';', ':');
  std::ranges::replace_if(
      name, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return name;
}

}  // namespace

std::string ToFolded(const Profile& profile, uint32_t value_index, const FoldedOptions& options) {
  // Each location's text once, outermost inlined function first.
  std::vector<std::string> frames(profile.location_count());
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    Location location = profile.location(i);
    const char* suffix = options.mark_kernel && profile.IsKernel(location) ? "_[k]" : "";
    for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;) {
      if (!frames[i].empty()) frames[i] += ';';
      frames[i] += FoldedName(profile.FrameName(location, line)) + suffix;
    }
  }
  std::map<std::string, int64_t> sums;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    std::string stack;
    for (size_t at = sample.locations.size(); at-- > 0;) {
      if (!stack.empty()) stack += ';';
      stack += frames[sample.locations[at]];
    }
    int64_t& sum = sums[stack.empty() ? "[no stack]" : stack];
    sum = SaturatingAdd(sum, sample.values[value_index]);
  }
  std::string out;
  for (const auto& [stack, value] : sums) {
    if (value != 0) out += stack + ' ' + std::to_string(value) + '\n';
  }
  return out;
}

}  // namespace firetower::profile
