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

// A module and a process that maps it: enough to open its file from any thread.
struct MappedModule {
  std::shared_ptr<const Module> module;
  uint32_t pid = 0;
  uint32_t parent = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  bool maybe_gone = false;  // process and range were right a while ago, and may be another file's

  MappedModule() = default;
  // Returns the module with the process whose stack showed it last. Some stack must have shown it.
  static MappedModule LastSeen(std::shared_ptr<const Module> module);
  MappedModule(std::shared_ptr<const Module> of, const Process& process,
               const ProcessMapping& mapping)
      : module(std::move(of)),
        pid(process.pid),
        parent(process.parent),
        start(mapping.start),
        end(mapping.end) {}
};

// Opens a module's file as its process sees it: by /proc/<pid>/map_files (even if deleted or
// replaced), else by its path inside the root of the process or of one of its parents. The build
// id, or else the inode, must be the mapped one; for kNames it must also be the right one of the
// files with that build id (Module::stamp). Tells the module a build id that was unknown before.
// kNotFound: none of these opens or is the right file. kPermission: the kernel refused one.
// kUnavailable: another file is mapped there by now, or the process maps the file no more, so
// another process may show the right one.
enum class FileUse : uint8_t { kCode, kNames };
Result<symbolizer::FileSource> OpenModuleFile(const std::string& proc_root,
                                              const MappedModule& mapped,
                                              FileUse use = FileUse::kNames);

// Tells whether `error` of OpenModuleFile says nothing about the file: process `pid` has ended, or
// maps it no more. The next process that maps the file may show it.
bool IsGone(const Error& error, const std::string& proc_root, uint32_t pid);

// The files that a process or one of its parents sees, by path. No link leads out of their roots.
class ProcessFiles : public symbolizer::FileTree {
 public:
  ProcessFiles(const std::string& proc_root, const MappedModule& mapped);
  Result<symbolizer::FileSource> Open(const std::string& path) const override;

  // The roots, beginning with the process's own.
  const std::vector<std::string>& roots() const { return roots_; }

 private:
  std::vector<std::string> roots_;
};

}  // namespace firetower::daemon
