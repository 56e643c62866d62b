// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/elf_values.h"

namespace firetower::daemon {

Status ReadElfAt(const symbolizer::ElfFile& file, uint64_t elf_vaddr, std::span<std::byte> to) {
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || elf_vaddr < segment.p_vaddr) continue;
    const uint64_t in_segment = elf_vaddr - segment.p_vaddr;
    if (in_segment > segment.p_filesz || segment.p_filesz - in_segment < to.size()) continue;
    return file.source().ReadAt(segment.p_offset + in_segment, to);
  }
  return Error(ErrorCode::kCorrupt, "no segment has the address of a symbol");
}

Result<std::optional<uint64_t>> CodeBias(const symbolizer::ElfFile& file) {
  std::optional<uint64_t> bias;
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t of_segment = segment.p_vaddr - segment.p_offset;
    if (bias && *bias != of_segment) return std::optional<uint64_t>();
    bias = of_segment;
  }
  if (!bias) return Error(ErrorCode::kCorrupt, "no segment has code");
  return bias;
}

}  // namespace firetower::daemon
