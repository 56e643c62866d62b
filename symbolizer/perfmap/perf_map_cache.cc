// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map_cache.h"

#include <algorithm>

namespace firetower::symbolizer {

void PerfMapCache::BeginSlice() {
  ++slice_;
  allowance_bytes_ = std::min(allowance_bytes_ + kSliceBytes, kSliceBytes);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (slice_ - it->second.used_slice <= kUnusedSlices) {
      ++it;
      continue;
    }
    Forget(it->second);
    it = entries_.erase(it);
  }
}

PerfMapCache::Found PerfMapCache::Load(pid_t pid) {
  if (!MakeEntryRoom(pid)) return {};
  Entry& entry = entries_[pid];
  entry.used_slice = slice_;
  if (entry.looked_slice != slice_) {
    entry.looked_slice = slice_;
    Look(pid, entry);
  }
  return {entry.file ? entry.file->map() : nullptr, entry.later};
}

void PerfMapCache::Look(pid_t pid, Entry& entry) {
  Result<uint64_t> start_ticks = ReadStartTicks(proc_root_, pid);
  if (!start_ticks) {
    // It has ended: its map is as good as it gets.
    entry.later = false;
    return;
  }
  if (*start_ticks != entry.start_ticks) {
    Forget(entry);
    entry = Entry();
    entry.start_ticks = *start_ticks;
    entry.used_slice = entry.looked_slice = slice_;
  }
  if (slice_ < entry.next_slice) return;
  if (!entry.file) {
    Result<PerfMapFile> file = PerfMapFile::ForProcess(proc_root_, pid);
    if (!file) return;
    entry.file.emplace(*std::move(file));
  }
  Refresh(pid, entry);
}

void PerfMapCache::Refresh(pid_t pid, Entry& entry) {
  const uint64_t read_before = entry.file->read_bytes();
  Result<bool> changed = entry.file->Refresh(allowance_bytes_ > 0);
  const uint64_t read = entry.file->read_bytes() - read_before;
  allowance_bytes_ -= static_cast<int64_t>(read);
  entry.later = entry.file->map() != nullptr;
  if (!changed) {
    if (changed.error().code() == ErrorCode::kUnavailable) {
      ++waits_;
      entry.later = true;
      ExpectBytes(entry, entry.file->size_bytes());
      return;
    }
    entry.next_slice = slice_ + entry.absent_slices;
    entry.absent_slices = std::min(entry.absent_slices * 2, kMaxAbsentSlices);
    return;
  }
  entry.absent_slices = 1;
  if (!*changed) return;
  ++reads_;
  // The process may have ended, and another one with its pid may have existed when its root was
  // opened. The next slice sees which process exists now.
  Result<uint64_t> start_ticks = ReadStartTicks(proc_root_, pid);
  if (start_ticks && *start_ticks != entry.start_ticks) {
    Forget(entry);
    entry.later = true;
    return;
  }
  ExpectBytes(entry, read);
  entry.next_slice = slice_ + 1 + file_bytes_ / static_cast<uint64_t>(kSliceBytes);
  map_bytes_ -= entry.map_bytes;
  entry.map_bytes = entry.file->map()->bytes();
  map_bytes_ += entry.map_bytes;
  MakeRoom(entry);
}

void PerfMapCache::ExpectBytes(Entry& entry, uint64_t bytes) {
  file_bytes_ += bytes - entry.file_bytes;
  entry.file_bytes = bytes;
}

void PerfMapCache::MakeRoom(const Entry& entry) {
  while (map_bytes_ > budget_bytes_) Refuse(*NextToEvict(entry));
}

// Returns the map to evict so that `than` gets room; `than` itself if no map is worth less.
PerfMapCache::Entry* PerfMapCache::NextToEvict(const Entry& than) {
  Entry* oldest = nullptr;
  Entry* largest = nullptr;
  for (auto& [pid, entry] : entries_) {
    if (entry.map_bytes == 0) continue;
    if (entry.used_slice + 1 < slice_ &&
        (oldest == nullptr || entry.used_slice < oldest->used_slice)) {
      oldest = &entry;
    }
    if (&entry == &than || entry.map_bytes > than.map_bytes) {
      if (largest == nullptr || entry.map_bytes > largest->map_bytes) largest = &entry;
    }
  }
  return oldest != nullptr ? oldest : largest;
}

void PerfMapCache::Refuse(Entry& entry) {
  ++refused_;
  // A map that was not used may be read again when it is needed.
  if (entry.used_slice + 1 >= slice_) entry.next_slice = slice_ + kRefusedSlices;
  Forget(entry);
}

// Frees the map and its share of the counters.
void PerfMapCache::Forget(Entry& entry) {
  ExpectBytes(entry, 0);
  map_bytes_ -= entry.map_bytes;
  entry.map_bytes = 0;
  entry.file.reset();
  entry.later = false;
}

// False when `pid` is new and all places belong to processes that were asked for in this slice.
bool PerfMapCache::MakeEntryRoom(pid_t pid) {
  if (entries_.size() < kMaxProcesses || entries_.contains(pid)) return true;
  auto oldest = std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.used_slice < b.second.used_slice; });
  if (oldest->second.used_slice == slice_) return false;
  Forget(oldest->second);
  entries_.erase(oldest);
  return true;
}

PerfMapCache::Counters PerfMapCache::counters() const {
  return {reads_, refused_, waits_, map_bytes_, entries_.size()};
}

}  // namespace firetower::symbolizer
