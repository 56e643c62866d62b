// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/sample_order.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace firetower::profile {
namespace {

struct Entry {
  uint64_t key = 0;  // of two frames
  uint32_t sample = 0;

  bool operator<(const Entry& other) const {
    return key != other.key ? key < other.key : sample < other.sample;
  }
};

// Entries whose stacks agree in so many frames from the root on.
struct Run {
  size_t begin = 0;
  size_t end = 0;
  size_t depth = 0;
};

constexpr size_t kFramesAKey = 2;

// Two frames at `depth` from the root; the end of a stack comes before all frames.
uint64_t KeyAt(std::span<const uint32_t> leaf_first, size_t depth) {
  uint64_t key = 0;
  for (size_t i = depth; i < depth + kFramesAKey; ++i) {
    const size_t size = leaf_first.size();
    key = key << 32 | (i < size ? uint64_t{leaf_first[size - 1 - i]} + 1 : 0);
  }
  return key;
}

// A profile has each stack once.
bool AreOneStack(const Profile& profile, std::span<const Entry> part) {
  if (part.empty()) return true;
  const auto stack_of = [&](const Entry& entry) {
    const std::span<const uint32_t> stack = profile.sample(entry.sample).locations;
    return std::pair(stack.data(), stack.size());
  };
  return std::ranges::all_of(
      part, [&, first = stack_of(part[0])](const Entry& one) { return stack_of(one) == first; });
}

}  // namespace

// Frame by frame instead of stack by stack: most stacks share their first frames, which a
// comparison would read again and again. Runs wait in a list, however deep a file's stacks are.
std::vector<uint32_t> SampleOrder(const Profile& profile) {
  std::vector<Entry> entries(profile.sample_count());
  for (uint32_t i = 0; i < entries.size(); ++i) entries[i].sample = i;
  std::vector<Run> runs{{.end = entries.size()}};
  while (!runs.empty()) {
    const Run run = runs.back();
    runs.pop_back();
    const std::span<Entry> part = std::span(entries).subspan(run.begin, run.end - run.begin);
    if (AreOneStack(profile, part)) continue;  // in order already, however deep it is
    for (Entry& entry : part) {
      entry.key = KeyAt(profile.sample(entry.sample).locations, run.depth);
    }
    std::ranges::sort(part, std::less<>());
    for (size_t i = 0; i < part.size();) {
      size_t next = i + 1;
      while (next < part.size() && part[next].key == part[i].key) ++next;
      // Where the second frame is none, the stacks end and are one.
      const bool goes_on = (part[i].key & UINT32_MAX) != 0;
      if (next - i > 1 && goes_on) {
        runs.push_back({run.begin + i, run.begin + next, run.depth + kFramesAKey});
      }
      i = next;
    }
  }
  std::vector<uint32_t> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(entry.sample);
  return order;
}

}  // namespace firetower::profile
