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
// mount namespace, N its pid in its own (innermost) pid namespace. Owned by one thread.
//
// The profiled controls that file system: see OpenForeignBelow. A link in the file's place is
// refused, and a file of more than PerfMap::kMaxFileBytes.
class PerfMapFile {
 public:
  // Looks up N once. kNotFound: no such process.
  static Result<PerfMapFile> ForProcess(const std::string& proc_root, pid_t pid);

  // Reads the file if it is new or its size, inode or mtime changed since the last read. True when
  // map() is another one now. kNotFound when there is no file, the common case; kUnavailable when
  // there is something to read, but it may not be read now. Costs two or three opens.
  Result<bool> Refresh(bool may_read = true);

  // Null until a Refresh() succeeded; the last good one after a failed Refresh().
  std::shared_ptr<const PerfMap> map() const { return map_; }
  // Of the file when it was last looked at.
  uint64_t size_bytes() const { return size_bytes_; }
  // Of all reads so far: what they cost.
  uint64_t read_bytes() const { return read_bytes_; }
  // As the process names it: "/tmp/perf-1.map".
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

// The pid a process has in its innermost pid namespace: the last number of `NSpid:` in the text of
// /proc/<pid>/status. kCorrupt when there is no such line (kernels before 4.1).
Result<pid_t> InnermostPid(std::string_view status_text);

// When a process began, in clock ticks since the machine did: with its pid, what tells it from any
// other. Field 22 of /proc/<pid>/stat (proc_pid_stat(5)). kNotFound: no such process.
Result<uint64_t> ReadStartTicks(const std::string& proc_root, pid_t pid);
Result<uint64_t> StartTicks(std::string_view stat_text);

}  // namespace firetower::symbolizer
