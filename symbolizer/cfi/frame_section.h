// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// Where records of call frame information lie. The two formats differ in small things: the numbers
// that mark a CIE, how an FDE points at its CIE, the form of addresses.
struct FrameSection {
  enum class Format : uint8_t { kEhFrame, kDebugFrame };
  Format format = Format::kEhFrame;
  uint64_t file_offset = 0;
  uint64_t elf_vaddr = 0;
  uint64_t size = 0;
  // Found without a section header, so that its size is only a bound: a record of length zero ends
  // it. In a section there may be such records between those of two object files.
  bool ends_at_zero = false;
};

struct FrameSections {
  std::optional<FrameSection> eh_frame;
  std::optional<FrameSection> debug_frame;
  bool compressed_debug_frame = false;
};

// Beyond this a section is refused (kExhausted). The largest browsers have 60 MiB.
inline constexpr uint64_t kMaxFrameSectionBytes = 512u << 20;

Result<FrameSections> FindFrameSections(const ElfFile& file);

}  // namespace firetower::symbolizer
