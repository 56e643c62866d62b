// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/process/process_table.h"
#include "symbolizer/elf/debug_file.h"
#include "symbolizer/random_access.h"

namespace firetower::daemon {

// A module and a process that has it mapped: enough to open its file from any thread.
struct MappedModule {
  std::shared_ptr<const Module> module;
  uint32_t pid = 0;
  uint32_t parent = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  bool maybe_gone = false;  // process and range were right a while ago, and may be another file's

  MappedModule() = default;
  // Where a stack showed it last. The module must have been seen.
  static MappedModule LastSeen(std::shared_ptr<const Module> module);
  MappedModule(std::shared_ptr<const Module> of, const Process& process,
               const ProcessMapping& mapping)
      : module(std::move(of)),
        pid(process.pid),
        parent(process.parent),
        start(mapping.start),
        end(mapping.end) {}
};

// Opens a module's file where its process sees it: /proc/<pid>/map_files (deleted and replaced
// files too), else its path inside the root of the process or of one of its parents. Its build id,
// or without one its inode, must be the one that was mapped; for its names it must be that one of
// the files with the build id, too (Module::stamp). A build id nobody knew yet is told to the
// module. Errors: kNotFound when none of these opens or is the right file, kPermission if the
// kernel refused one; kUnavailable if another file is mapped there by now: another process may show
// it.
enum class FileUse : uint8_t { kCode, kNames };
Result<symbolizer::FileSource> OpenModuleFile(const std::string& proc_root,
                                              const MappedModule& mapped,
                                              FileUse use = FileUse::kNames);

// Whether `error` of OpenModuleFile says nothing of the file: process `pid` took it along, or maps
// it no more. It may be had from the next process that maps it.
bool IsGone(const Error& error, const std::string& proc_root, uint32_t pid);

// The files that a process or one of its parents sees, by path; no link leads out of their roots.
class ProcessFiles : public symbolizer::FileTree {
 public:
  ProcessFiles(const std::string& proc_root, const MappedModule& mapped);
  Result<symbolizer::FileSource> Open(const std::string& path) const override;

  // The process's own root first.
  const std::vector<std::string>& roots() const { return roots_; }

 private:
  std::vector<std::string> roots_;
};

}  // namespace firetower::daemon
