// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/export/container_profile.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// The sampled allocations that are in use, of containers whose policies ask for them: by stack,
// from their sample until they are freed, or until their process is not followed any more.
//
// An allocation may be freed before its sample is resolved, which takes kEarlyNs at most. Memory:
// FT_LIVE allocations, and for each container a profile of its stacks: at kMaxProfileBytes its
// allocations are forgotten, and counted from then on. Guarded by its owner.
class LiveHeaps {
 public:
  static constexpr int64_t kEarlyNs = 60 * kNsPerSecond;
  static constexpr size_t kMaxProfileBytes = 16 << 20;

  LiveHeaps(FrameNamer& namer, const LabelChoice& labels) : namer_(namer), labels_(labels) {}

  // Forgets what a process allocated before a time (monotonic): it has ended, or it is not followed
  // any more.
  void EndProcess(uint32_t pid, int64_t time_ns);
  void Take(const Slice& slice);
  // Looks again for names that were not known yet.
  void LookAgain();

  // The allocations of a container.
  struct Live {
    Slice::ContainerEntry entry;
    ContainerProfile profile;     // whose samples have no values
    std::vector<Amount> amounts;  // in use, by sample
    int64_t since_ns = 0;         // Unix time from which on they are known
    uint64_t count = 0;           // in use, of any sample
    uint64_t unseen = 0;          // could not be followed

    ContainerProfile::InUse in_use() const { return {profile, amounts, since_ns, unseen}; }
  };
  // Returns null if none of its allocations are followed.
  const Live* Find(const Container* container) const;
  // Calls `visit(live)` for each container with allocations in use.
  void ForEach(const std::function<void(const Live&)>& visit) const;
  size_t size() const { return allocations_.size(); }

 private:
  struct KeyHash {
    size_t operator()(const AllocationId& id) const;
  };
  struct Allocation {
    Live* live = nullptr;
    uint32_t sample = 0;
    uint32_t pid = 0;
    Amount amount;
  };

  Live& LiveOf(const Slice::ContainerEntry& entry, const Slice& slice);
  void Add(const Slice& slice, const Slice::Allocated& allocated);
  void Free(const ft_freed& freed);
  static void Subtract(const Allocation& allocation);
  void Forget(const Container* container);

  FrameNamer& namer_;
  const LabelChoice& labels_;
  std::map<const Container*, std::unique_ptr<Live>> containers_;
  std::unordered_map<AllocationId, Allocation, KeyHash> allocations_;
  // Freed before their samples came, with the time of that.
  std::unordered_map<AllocationId, int64_t, KeyHash> early_;
  std::deque<std::pair<int64_t, AllocationId>> early_order_;
  std::map<uint32_t, int64_t> ended_;  // by pid
};

}  // namespace firetower::daemon
