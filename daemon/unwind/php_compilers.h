// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bpf/abi/runtime.h"
#include "bpf/abi/unwind.h"
#include "daemon/process/process_table.h"

namespace firetower::daemon {

// Knows where processes have code that PHP's compiler wrote: in the memory that its cache of
// compiled code (opcache) shares among them. Owned by the resolve thread.
class PhpCompilers {
 public:
  // Notes that a module has PHP, and forgets it when its id is another file's.
  void AddLibrary(uint32_t module, const ft_php& build);
  void ForgetLibrary(uint32_t module) { bodies_.erase(module); }

  // Returns what the walk needs of a process with those mappings; nothing where it has no such
  // code.
  std::optional<ft_machine> Find(const std::vector<ProcessMapping>& mappings) const;

 private:
  std::unordered_map<uint32_t, int64_t> bodies_;  // by module: file offset of code in its loop
};

}  // namespace firetower::daemon
