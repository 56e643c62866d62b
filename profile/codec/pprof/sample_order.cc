// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/sample_order.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace firetower::profile {
namespace {

// A key of some frames above the number of a sample, so that one comparison compares both.
using Entry = uint64_t;
uint32_t SampleOf(Entry entry) { return static_cast<uint32_t>(entry); }
uint32_t KeyOf(Entry entry) { return static_cast<uint32_t>(entry >> 32); }

// Entries whose stacks agree in so many frames from the root on.
struct Run {
  size_t begin = 0;
  size_t end = 0;
  size_t depth = 0;
};

// Sort keys made of the frames of a stack: two frames per key when a profile has few locations.
class Keys {
 public:
  explicit Keys(const Profile& profile)
      : frames_(profile.location_count() < kHalf ? 2 : 1), bits_(32 / frames_) {}

  size_t frames() const { return frames_; }
  // Returns the key of the frames from `depth` (counted from the root) on. The end of a stack sorts
  // before all frames.
  uint32_t At(const StackView& leaf_first, size_t depth) const {
    uint64_t key = 0;
    for (size_t i = depth; i < depth + frames_; ++i) {
      const size_t size = leaf_first.size();
      key = key << bits_ | (i < size ? leaf_first[size - 1 - i] + 1 : 0);
    }
    return static_cast<uint32_t>(key);
  }
  // Whether the stacks of a key have frames behind it.
  bool GoesOn(uint32_t key) const { return (key & ((uint64_t{1} << bits_) - 1)) != 0; }

 private:
  static constexpr uint32_t kHalf = UINT16_MAX;
  size_t frames_;
  size_t bits_;  // of a frame
};

// A profile has each stack once.
bool AreOneStack(const Profile& profile, std::span<const Entry> part) {
  if (part.empty()) return true;
  const StackView first = profile.sample(SampleOf(part[0])).locations;
  return std::ranges::all_of(
      part, [&](Entry entry) { return profile.sample(SampleOf(entry)).locations.IsSame(first); });
}

}  // namespace

// Frame by frame instead of stack by stack: most stacks share their first frames, which a
// comparison would read again and again. Runs wait in a list, however deep a file's stacks are.
std::vector<uint32_t> SampleOrder(const Profile& profile) {
  const Keys keys(profile);
  std::vector<uint32_t> order(profile.sample_count());
  std::vector<Entry> entries(order.size());
  std::iota(entries.begin(), entries.end(), 0u);
  std::vector<Run> runs{{.end = entries.size()}};
  while (!runs.empty()) {
    const Run run = runs.back();
    runs.pop_back();
    const std::span<Entry> part = std::span(entries).subspan(run.begin, run.end - run.begin);
    if (AreOneStack(profile, part)) continue;  // in order already, however deep it is
    for (Entry& entry : part) {
      const StackView stack = profile.sample(SampleOf(entry)).locations;
      entry = uint64_t{keys.At(stack, run.depth)} << 32 | SampleOf(entry);
    }
    std::ranges::sort(part);
    for (size_t i = 0; i < part.size();) {
      size_t next = i + 1;
      while (next < part.size() && KeyOf(part[next]) == KeyOf(part[i])) ++next;
      // If the key's last frame is empty, the stacks have ended and are equal.
      if (next - i > 1 && keys.GoesOn(KeyOf(part[i]))) {
        runs.push_back({run.begin + i, run.begin + next, run.depth + keys.frames()});
      }
      i = next;
    }
  }
  std::ranges::transform(entries, order.begin(), SampleOf);
  return order;
}

}  // namespace firetower::profile
