// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/arena.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"

namespace firetower::daemon {

Arena::Arena(UnwindMemory& memory, uint64_t budget_bytes) : memory_(memory) {
  uint64_t slabs = std::clamp<uint64_t>(budget_bytes / FT_SLAB_BYTES, 1, memory.max_slabs());
  in_slab_.resize(slabs, 0);
  // Position 0 means "nothing" and is never handed out.
  free_[kUnitBytes] = static_cast<uint32_t>(slabs * FT_SLAB_BYTES - kUnitBytes);
}

Arena::~Arena() {
  for (uint32_t slab = 0; slab < in_slab_.size(); ++slab) {
    if (in_slab_[slab] > 0) memory_.RemoveSlab(slab);
  }
}

bool Arena::TakeSlabs(uint32_t begin, uint32_t end) {
  for (uint32_t slab = begin; slab < end; ++slab) {
    if (in_slab_[slab]++ > 0) continue;
    if (Status added = memory_.AddSlab(slab); !added) {
      LOG(kWarn, "no memory for unwind tables", {{"error", added.error().message()}});
      --in_slab_[slab];
      ReleaseSlabs(begin, slab);
      return false;
    }
    ++slabs_in_use_;
  }
  return true;
}

void Arena::ReleaseSlabs(uint32_t begin, uint32_t end) {
  for (uint32_t slab = begin; slab < end; ++slab) {
    if (--in_slab_[slab] > 0) continue;
    memory_.RemoveSlab(slab);
    --slabs_in_use_;
  }
}

std::optional<uint32_t> Arena::Allocate(uint64_t bytes) {
  CHECK(bytes > 0);
  uint64_t units = (bytes + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
  auto fits = [&](const auto& range) { return range.second >= units; };
  auto found = std::find_if(free_.begin(), free_.end(), fits);
  if (found == free_.end()) return std::nullopt;
  auto [position, size] = *found;
  auto taken = static_cast<uint32_t>(units);
  uint32_t last = (position + taken - 1) >> FT_SLAB_SHIFT;
  if (!TakeSlabs(position >> FT_SLAB_SHIFT, last + 1)) return std::nullopt;
  free_.erase(found);
  if (size > taken) free_[position + taken] = size - taken;
  used_[position] = taken;
  used_bytes_ += taken;
  return position;
}

void Arena::Free(uint32_t position, int64_t now_ns) {
  CHECK(used_.contains(position));
  freed_.push_back({position, now_ns + kGraceNs});
}

void Arena::Reclaim(int64_t now_ns) {
  while (!freed_.empty() && freed_.front().reusable_ns <= now_ns) {
    auto used = used_.find(freed_.front().position);
    freed_.pop_front();
    auto [position, bytes] = *used;
    used_.erase(used);
    used_bytes_ -= bytes;
    ReleaseSlabs(position >> FT_SLAB_SHIFT, ((position + bytes - 1) >> FT_SLAB_SHIFT) + 1);
    Merge(position, bytes);
  }
}

void Arena::Merge(uint32_t position, uint32_t bytes) {
  auto next = free_.lower_bound(position);
  if (next != free_.end() && position + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == position) {
      before->second += bytes;
      return;
    }
  }
  free_[position] = bytes;
}

}  // namespace firetower::daemon
