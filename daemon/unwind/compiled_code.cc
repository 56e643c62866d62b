// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/compiled_code.h"

#include "daemon/process/module.h"

namespace firetower::daemon {
namespace {

// Shared memory without a file, as the kernel names it (shmem_kernel_file_setup(), mm/shmem.c).
constexpr std::string_view kShared[] = {"/dev/zero (deleted)", "/dev/zero"};

bool IsShared(const ProcessMapping& mapping) {
  return mapping.path_hash == PathHash(kShared[0]) || mapping.path_hash == PathHash(kShared[1]);
}

}  // namespace

bool CompiledCode::AddLibrary(uint32_t module, const ft_interpreter& build) {
  // All of them begin with their kind.
  const uint16_t runtime = build.python.runtime_kind;
  if (runtime == FT_RUNTIME_PHP && build.php.body != 0) {
    libraries_[module] = {FT_MACHINE_PHP, static_cast<uint64_t>(build.php.body)};
  } else if (runtime == FT_RUNTIME_RUBY) {
    libraries_[module] = {FT_MACHINE_RUBY, static_cast<uint64_t>(build.ruby.loop)};
  } else {
    return false;
  }
  return true;
}

std::optional<ft_machine> CompiledCode::Find(const std::vector<ProcessMapping>& mappings) const {
  if (libraries_.empty()) return std::nullopt;
  ft_machine machine{};
  for (const ProcessMapping& mapping : mappings) {
    const auto library = libraries_.find(mapping.module);
    if (library == libraries_.end()) continue;
    const uint64_t in_mapping = library->second.place - mapping.file_offset;
    if (in_mapping >= mapping.end - mapping.start) continue;
    machine.kind = library->second.kind;
    machine.module = mapping.module;
    machine.builtins = mapping.start + in_mapping;
  }
  if (machine.builtins == 0) return std::nullopt;
  // Others make code too, such as that of regular expressions, but less of it.
  for (const ProcessMapping& mapping : mappings) {
    const uint64_t bytes = mapping.end - mapping.start;
    if (mapping.module != ModuleRegistry::kJit || bytes <= machine.bytes ||
        IsShared(mapping) != (machine.kind == FT_MACHINE_PHP))
      continue;
    machine.low = mapping.start;
    machine.bytes = bytes;
  }
  if (machine.bytes == 0) return std::nullopt;
  return machine;
}

}  // namespace firetower::daemon
