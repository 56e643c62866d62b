// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/live_heaps.h"

#include <algorithm>

#include "base/hash.h"

namespace firetower::daemon {

size_t LiveHeaps::KeyHash::operator()(const AllocationId& id) const {
  return HashWord(HashWord(kHashSeed, id.time_ns), id.tid);
}

void LiveHeaps::EndProcess(uint32_t pid, int64_t time_ns) {
  int64_t& ended = ended_[pid];
  ended = std::max(ended, time_ns);
  std::erase_if(allocations_, [&](const auto& entry) {
    const auto& [id, allocation] = entry;
    if (allocation.pid != pid || static_cast<int64_t>(id.time_ns) >= time_ns) return false;
    Subtract(allocation);
    return true;
  });
}

void LiveHeaps::Subtract(const Allocation& allocation) {
  Amount& amount = allocation.live->amounts[allocation.sample];
  amount.count -= allocation.amount.count;
  amount.value -= allocation.amount.value;
  allocation.live->count -= allocation.amount.count;
}

LiveHeaps::Live& LiveHeaps::LiveOf(const Slice::ContainerEntry& entry, const Slice& slice) {
  std::unique_ptr<Live>& live = containers_[entry.container.get()];
  if (live && live->profile.bytes() > kMaxProfileBytes) {
    Forget(entry.container.get());
    return LiveOf(entry, slice);
  }
  if (!live) {
    live = std::make_unique<Live>(Live{.entry = entry,
                                       .profile = {namer_, labels_, entry, slice.begin_wall_ns},
                                       .amounts = {},
                                       .since_ns = slice.begin_wall_ns});
  }
  live->entry = entry;
  return *live;
}

void LiveHeaps::Add(const Slice& slice, const Slice::Allocated& allocated) {
  const AllocationId& id = allocated.id;
  const Slice::Row& row = slice.rows[allocated.row];
  const Slice::ContainerEntry& entry = slice.containers[row.container];
  const auto ended = ended_.find(allocated.pid);
  const auto time_ns = static_cast<int64_t>(id.time_ns);
  if (early_.erase(id) > 0 || !entry.decision.to_store ||
      (ended != ended_.end() && time_ns < ended->second))
    return;
  Live& live = LiveOf(entry, slice);
  const std::optional<uint32_t> sample = live.profile.AddRow(slice, row, Amount{});
  if (!sample) return;
  if (*sample >= live.amounts.size()) live.amounts.resize(*sample + 1);
  live.amounts[*sample] += allocated.amount;
  live.count += allocated.amount.count;
  allocations_[id] = {&live, *sample, allocated.pid, allocated.amount};
}

void LiveHeaps::Free(const ft_freed& freed) {
  const AllocationId id{freed.sample_ns, freed.tid};
  const auto time_ns = static_cast<int64_t>(freed.time_ns);
  const auto found = allocations_.find(id);
  if (found != allocations_.end()) {
    if (freed.why == FT_FREED_UNSEEN) found->second.live->unseen += found->second.amount.count;
    Subtract(found->second);
    allocations_.erase(found);
  } else if (early_.emplace(id, time_ns).second) {
    early_order_.emplace_back(time_ns, id);
  }
}

void LiveHeaps::Take(const Slice& slice) {
  for (const Slice::Allocated& allocated : slice.allocated) Add(slice, allocated);
  for (const ft_freed& freed : slice.freed) Free(freed);
  for (const std::shared_ptr<const Container>& container : slice.gone) Forget(container.get());
  const int64_t oldest_ns = slice.end_ns - kEarlyNs;
  while (!early_order_.empty() && early_order_.front().first < oldest_ns) {
    early_.erase(early_order_.front().second);
    early_order_.pop_front();
  }
  std::erase_if(ended_, [&](const auto& ended) { return ended.second < oldest_ns; });
}

void LiveHeaps::Forget(const Container* container) {
  const auto found = containers_.find(container);
  if (found == containers_.end()) return;
  std::erase_if(allocations_,
                [&](const auto& entry) { return entry.second.live == found->second.get(); });
  containers_.erase(found);
}

void LiveHeaps::LookAgain() {
  for (auto& [container, live] : containers_) live->profile.LookAgain();
}

const LiveHeaps::Live* LiveHeaps::Find(const Container* container) const {
  const auto found = containers_.find(container);
  return found == containers_.end() ? nullptr : found->second.get();
}

void LiveHeaps::ForEach(const std::function<void(const Live&)>& visit) const {
  for (const auto& [container, live] : containers_) {
    if (live->count > 0) visit(*live);
  }
}

}  // namespace firetower::daemon
