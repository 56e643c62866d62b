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

// The perf-maps of the processes whose compiled code is being named. A map belongs to a process,
// that is a pid and a start time: whoever gets the pid next does not get its names. The map of a
// process that has ended stays for its last samples. Owned by one thread.
//
// Time counts in slices (BeginSlice). Bounds, and who goes:
// - Memory: maps under one byte budget. For a new one those go that were not asked for in this
// slice
//   or the last, oldest first, then larger ones than itself, largest first; else it goes itself.
//   What had to go is not read again for kRefusedSlices: with more maps than fit, some processes
//   have names all the time, and none is parsed in every slice.
// - Reading: kSliceBytes a slice. A longer file is read once, and repaid by the slices after it. A
//   changed file waits for as many slices as reading all files takes, so that each has its turn.
// - kMaxProcesses, with a map or without, by last use.
class PerfMapCache {
 public:
  // The largest map (PerfMap's bounds) is 26 MB.
  static constexpr size_t kDefaultBudgetBytes = 32u << 20;
  // 1.6 MB/s with slices of 5 s, about 1 % of a core for lines as runtimes write them.
  static constexpr int64_t kSliceBytes = 8 << 20;
  static constexpr size_t kMaxProcesses = 1024;
  static constexpr uint64_t kRefusedSlices = 60;
  // A process without a file is looked at after 1, 2, 4 … slices, at most this many.
  static constexpr uint64_t kMaxAbsentSlices = 16;
  // Nobody asks any more: a few windows.
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
  // Looks at the process and its file at most once a slice.
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

  bool MakePlace(pid_t pid);
  void Look(pid_t pid, Entry& entry);
  void Refresh(pid_t pid, Entry& entry);
  void ExpectBytes(Entry& entry, uint64_t bytes);
  void MakeRoom(const Entry& entry);
  Entry* NextToGo(const Entry& than);
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
