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

// Knows where processes have code that the compilers of PHP and Ruby wrote: PHP's in the memory
// that its cache (opcache) shares among them, Ruby's in memory of its own. Owned by the resolve
// thread.
class CompiledCode {
 public:
  // Notes what interpreter a module has, and forgets it when its id is another file's. Returns
  // whether processes that map it may have such code.
  bool AddLibrary(uint32_t module, const ft_interpreter& build);
  void ForgetLibrary(uint32_t module) { libraries_.erase(module); }

  // Returns what the walk needs of a process with those mappings; nothing where it has no such
  // code.
  std::optional<ft_machine> Find(const std::vector<ProcessMapping>& mappings) const;

 private:
  struct Library {
    uint32_t kind = 0;  // enum ft_machine_kind
    // File offset of what ft_machine::builtins is the address of.
    uint64_t place = 0;
  };

  std::unordered_map<uint32_t, Library> libraries_;  // by module
};

}  // namespace firetower::daemon
