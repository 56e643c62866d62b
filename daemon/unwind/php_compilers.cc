// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/php_compilers.h"

#include "daemon/process/module.h"

namespace firetower::daemon {
namespace {

// Shared memory without a file, as the kernel names it (shmem_kernel_file_setup(), mm/shmem.c).
constexpr std::string_view kShared[] = {"/dev/zero (deleted)", "/dev/zero"};

bool IsShared(const ProcessMapping& mapping) {
  return mapping.path_hash == PathHash(kShared[0]) || mapping.path_hash == PathHash(kShared[1]);
}

}  // namespace

void PhpCompilers::AddLibrary(uint32_t module, const ft_php& build) {
  if (build.body != 0) bodies_[module] = build.body;
}

std::optional<ft_machine> PhpCompilers::Find(const std::vector<ProcessMapping>& mappings) const {
  if (bodies_.empty()) return std::nullopt;
  ft_machine machine{};
  machine.kind = FT_MACHINE_PHP;
  for (const ProcessMapping& mapping : mappings) {
    const auto body = bodies_.find(mapping.module);
    const uint64_t bytes = mapping.end - mapping.start;
    if (body != bodies_.end()) {
      const uint64_t in_mapping = static_cast<uint64_t>(body->second) - mapping.file_offset;
      if (in_mapping < bytes) machine.builtins = mapping.start + in_mapping;
    } else if (mapping.module == ModuleRegistry::kJit && IsShared(mapping) &&
               bytes > machine.bytes) {
      machine.low = mapping.start;
      machine.bytes = bytes;
    }
  }
  if (machine.builtins == 0 || machine.bytes == 0) return std::nullopt;
  return machine;
}

}  // namespace firetower::daemon
