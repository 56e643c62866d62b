// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolizer/perfmap/perf_map.h"

namespace firetower::symbolizer {

// The perf-map file of one process, found where the process sees it: /tmp/perf-N.map in its own
// mount namespace, with N its pid in its own (innermost) pid namespace. Owned by one thread.
//
// The profiled process controls that file system: see OpenForeignBelow. A link in the file's place
// is refused, and so is a file of more than PerfMap::kMaxFileBytes.
class PerfMapFile {
 public:
  // Looks up N once. kNotFound: no such process.
  static Result<PerfMapFile> ForProcess(const std::string& proc_root, pid_t pid);

  // Reads the file if it is new or if its size, inode or mtime changed since the last read. Returns
  // true when map() changed. kNotFound: there is no file, the common case. kUnavailable: there is
  // something to read, but `may_read` is false. Costs two or three opens.
  Result<bool> Refresh(bool may_read = true);

  // The map of the last successful Refresh(); null before the first one.
  std::shared_ptr<const PerfMap> map() const { return map_; }
  // The size of the file at the last Refresh().
  uint64_t size_bytes() const { return size_bytes_; }
  // The bytes that all reads so far have read: their cost.
  uint64_t read_bytes() const { return read_bytes_; }
  // The path inside the process's own file system: "/tmp/perf-1.map".
  std::string inner_path() const { return "/" + inner_path_; }

 private:
  struct Version {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size_bytes = -1;
    int64_t mtime_ns = 0;
    bool operator==(const Version&) const = default;
  };
  PerfMapFile(std::string root_path, std::string inner_path)
      : root_path_(std::move(root_path)), inner_path_(std::move(inner_path)) {}

  std::string root_path_;   // <proc_root>/<pid>/root
  std::string inner_path_;  // relative to it
  Version version_;
  uint64_t size_bytes_ = 0;
  uint64_t read_bytes_ = 0;
  std::shared_ptr<const PerfMap> map_;
};

// Returns the pid of a process in its innermost pid namespace: the last number of `NSpid:` in the
// text of /proc/<pid>/status. kCorrupt: there is no such line (kernels before 4.1).
Result<pid_t> InnermostPid(std::string_view status_text);

// Returns the start time of a process in clock ticks since boot, field 22 of /proc/<pid>/stat
// (proc_pid_stat(5)). Pid and start time together identify a process. kNotFound: no such process.
Result<uint64_t> ReadStartTicks(const std::string& proc_root, pid_t pid);
Result<uint64_t> StartTicks(std::string_view stat_text);

}  // namespace firetower::symbolizer
