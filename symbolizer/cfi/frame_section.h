// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// A section with records of call frame information. The two formats differ in details: the number
// that marks a CIE, the reference from an FDE to its CIE, the form of addresses.
struct FrameSection {
  enum class Format : uint8_t { kEhFrame, kDebugFrame };
  Format format = Format::kEhFrame;
  uint64_t file_offset = 0;
  uint64_t elf_vaddr = 0;
  uint64_t size = 0;
  // True when the section was found without a section header. Then its size is only an upper bound,
  // and a record of length zero ends it. A real section may have such records between the parts of
  // two object files.
  bool ends_at_zero = false;
};

struct FrameSections {
  std::optional<FrameSection> eh_frame;
  std::optional<FrameSection> debug_frame;
  bool compressed_debug_frame = false;
};

// A larger section is refused (kExhausted). The largest browsers have 60 MiB.
inline constexpr uint64_t kMaxFrameSectionBytes = 512u << 20;

Result<FrameSections> FindFrameSections(const ElfFile& file);

}  // namespace firetower::symbolizer
