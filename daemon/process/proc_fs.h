// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/process/file_stamp.h"

namespace firetower::daemon {

// One line of /proc/<pid>/maps (proc_pid_maps(5)).
struct MapsLine {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  uint64_t device = 0;  // major << 32 | minor
  uint64_t inode = 0;
  std::string path;  // without " (deleted)"; empty for anonymous memory
  bool executable = false;
};

// The fields of /proc/<pid>/stat that are used (proc_pid_stat(5)).
struct ProcessStat {
  std::string comm;  // at most 15 bytes, more of a kernel thread
  uint32_t parent = 0;
  uint32_t threads = 0;
  uint64_t start_ticks = 0;  // when it began: with the pid, its identity
};

// The file behind a mapping, from /proc/<pid>/map_files. It may have been deleted or replaced.
struct MappedFile {
  FileStamp stamp;
  std::string path;  // as its process sees it, without " (deleted)"; "" if unknown
};

// Returns nullopt for invalid text. The command may hold any character, even parentheses.
std::optional<ProcessStat> ParseStat(std::string_view text);

// Removes the " (deleted)" that the kernel appends to the path of an unlinked file.
std::string_view WithoutDeleted(std::string_view path);

// Returns the executable mappings of a maps file. Skips invalid lines, because the path of another
// process may hold anything.
std::vector<MapsLine> ParseMaps(std::string_view text);
// Returns all mappings in the same way.
std::vector<MapsLine> ParseAllMaps(std::string_view text);

// Reads /proc, or a copy of its structure under another root. Every read may fail because the
// process is gone: callers treat that as an expected loss.
class ProcFs {
 public:
  static constexpr size_t kMaxCommandLine = 64 << 10;

  explicit ProcFs(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::vector<uint32_t> Pids() const;
  Result<std::vector<MapsLine>> Maps(uint32_t pid) const;
  Result<std::vector<MapsLine>> AllMaps(uint32_t pid) const;
  // Fills `out` with the process's memory at `address` if its pages are present. A missing page
  // would have to be fetched, by a server or by the process itself (userfaultfd(2)).
  Status ReadPresentMemory(uint32_t pid, uint64_t address, std::span<std::byte> out) const;
  // Returns the file that is mapped at exactly that range; kNotFound for another range or anonymous
  // memory.
  Result<MappedFile> FindMapped(uint32_t pid, uint64_t start, uint64_t end) const;
  // Costs one read, because at each start /proc of a node with a thousand processes is read.
  Result<ProcessStat> Stat(uint32_t pid) const;
  // Returns the name without the newline, at most 15 bytes.
  Result<std::string> ThreadComm(uint32_t pid, uint32_t tid) const;
  // Returns the executable's path as the process itself sees it, without " (deleted)".
  Result<std::string> Executable(uint32_t pid) const;
  // Returns the arguments separated by spaces, at most kMaxCommandLine bytes; empty for a kernel
  // thread.
  Result<std::string> CommandLine(uint32_t pid) const;

 private:
  std::string Path(uint32_t pid, std::string_view file) const;

  std::string root_;
};

}  // namespace firetower::daemon
