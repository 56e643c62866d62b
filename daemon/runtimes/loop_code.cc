// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/loop_code.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "symbolizer/cfi/frame_records.h"

namespace firetower::daemon {

using symbolizer::FdeRange;

Result<std::vector<FdeRange>> FindFunctionRanges(const symbolizer::ElfFile& file) {
  ASSIGN_OR_RETURN(const symbolizer::FrameSections sections, symbolizer::FindFrameSections(file));
  if (!sections.eh_frame) return Error(ErrorCode::kNotFound, "no call frame information");
  symbolizer::CfiStats stats;
  std::vector<FdeRange> functions;
  RETURN_IF_ERROR(
      symbolizer::FrameRecords(file.source(), *sections.eh_frame, stats).Scan(functions));
  std::ranges::sort(functions, {}, &FdeRange::begin_elf_vaddr);
  return functions;
}

const FdeRange* FunctionAt(const std::vector<FdeRange>& functions, uint64_t elf_vaddr) {
  const auto behind =
      std::ranges::upper_bound(functions, elf_vaddr, {}, &FdeRange::begin_elf_vaddr);
  if (behind == functions.begin() || elf_vaddr >= std::prev(behind)->end_elf_vaddr())
    return nullptr;
  return &*std::prev(behind);
}

uint64_t TargetAt(std::span<const std::byte> code, size_t at, uint64_t elf_vaddr) {
  int32_t distance = 0;
  std::memcpy(&distance, &code[at], sizeof(distance));
  return elf_vaddr + at + sizeof(distance) + static_cast<uint64_t>(int64_t{distance});
}

const FdeRange* FindPartSetApart(const std::vector<FdeRange>& functions,
                                 std::span<const std::byte> code, uint64_t elf_vaddr) {
  constexpr size_t kFewJumps = 4;
  std::vector<size_t> jumps(functions.size());
  const auto byte = [&](size_t at) { return std::to_integer<uint8_t>(code[at]); };
  // Looks at every byte that may begin a jump of 32 bits, so a few targets are chance.
  for (size_t i = 0; i + 6 <= code.size(); ++i) {
    const bool always = byte(i) == 0xe9;
    if (!always && !(byte(i) == 0x0f && (byte(i + 1) & 0xf0) == 0x80)) continue;
    const uint64_t target = TargetAt(code, i + (always ? 1 : 2), elf_vaddr);
    if (target - elf_vaddr < code.size()) continue;
    if (const FdeRange* function = FunctionAt(functions, target); function != nullptr)
      ++jumps[static_cast<size_t>(function - functions.data())];
  }
  const auto most = std::ranges::max_element(jumps);
  if (most == jumps.end() || *most < kFewJumps) return nullptr;
  return &functions[static_cast<size_t>(most - jumps.begin())];
}

}  // namespace firetower::daemon
