// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "symbolizer/perfmap/perf_map_file.h"

namespace firetower::symbolizer {

// Cache of the perf-maps of processes whose compiled code is being named. A map belongs to a
// process, identified by pid and start time: the next owner of the pid does not get its names. The
// map of an ended process is kept for its last samples. Owned by one thread.
//
// Time counts in slices (BeginSlice). All maps share one byte budget. A new map evicts maps that
// were not used in this slice or the last one, oldest first, then maps larger than itself, largest
// first; if that is not enough, it is refused. An evicted map is not read again for kRefusedSlices:
// with more maps than fit, some processes have names all the time, and none is parsed in every
// slice.
//
// At most kSliceBytes are read per slice. A longer file is read once, and the following slices read
// less. A changed file waits for as many slices as reading all files takes, so that each has its
// turn. Beyond kMaxProcesses, with a map or without, the least recently used one is dropped.
class PerfMapCache {
 public:
  // The largest map (within PerfMap's bounds) has 26 MB.
  static constexpr size_t kDefaultBudgetBytes = 32u << 20;
  // 1.6 MB/s with slices of 5 s, which takes about 1 % of a core for typical lines.
  static constexpr int64_t kSliceBytes = 8 << 20;
  static constexpr size_t kMaxProcesses = 1024;
  static constexpr uint64_t kRefusedSlices = 60;
  // A process without a file is checked after 1, 2, 4 … slices, at most this many.
  static constexpr uint64_t kMaxAbsentSlices = 16;
  // A few windows: the process is no longer sampled.
  static constexpr uint64_t kUnusedSlices = 60;

  struct Found {
    std::shared_ptr<const PerfMap> map;  // null: none, or not yet
    bool later = false;                  // there may be another one in a later slice
  };
  struct Counters {
    uint64_t reads = 0;    // files parsed
    uint64_t refused = 0;  // maps that had no room, or had to make it
    uint64_t waits = 0;    // lookups that found this slice's bytes used up
    size_t bytes = 0;      // of the maps held
    size_t processes = 0;
  };

  explicit PerfMapCache(std::string proc_root, size_t budget_bytes = kDefaultBudgetBytes)
      : proc_root_(std::move(proc_root)), budget_bytes_(budget_bytes) {}

  void BeginSlice();
  // Checks the process and its file at most once per slice.
  Found Load(pid_t pid);
  Counters counters() const;

 private:
  struct Entry {
    uint64_t start_ticks = 0;
    std::optional<PerfMapFile> file;
    size_t map_bytes = 0;
    uint64_t file_bytes = 0;  // what the next read will take, as far as is known
    uint64_t used_slice = 0;
    uint64_t looked_slice = 0;
    uint64_t next_slice = 0;  // the file is not looked at before
    uint64_t absent_slices = 1;
    bool later = false;
  };

  bool MakeEntryRoom(pid_t pid);
  void Look(pid_t pid, Entry& entry);
  void Refresh(pid_t pid, Entry& entry);
  void ExpectBytes(Entry& entry, uint64_t bytes);
  void MakeRoom(const Entry& entry);
  Entry* NextToEvict(const Entry& than);
  void Refuse(Entry& entry);
  void Forget(Entry& entry);

  std::string proc_root_;
  size_t budget_bytes_;
  std::unordered_map<pid_t, Entry> entries_;
  uint64_t slice_ = 1;
  int64_t allowance_bytes_ = kSliceBytes;  // negative after a file larger than what was left
  uint64_t file_bytes_ = 0;                // of all entries
  size_t map_bytes_ = 0;
  uint64_t reads_ = 0;
  uint64_t refused_ = 0;
  uint64_t waits_ = 0;
};

}  // namespace firetower::symbolizer
