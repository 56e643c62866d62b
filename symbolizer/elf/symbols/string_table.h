// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

// Reads names from a string table of any size through a window of 64 KiB, so that the whole table
// is never in memory. Cheap when the requested offsets rise, as those of the loader do.
class StringTable {
 public:
  static constexpr size_t kMaxNameBytes = 32 * 1024;  // longer names are cut

  // `source` must outlive this; the section lies inside it.
  StringTable(const RandomAccess& source, const Elf64_Shdr& section)
      : source_(&source), offset_(section.sh_offset), size_(section.sh_size) {}

  // Returns the name at an offset; nothing when it is out of range, unterminated or unreadable.
  // Valid until the next call.
  std::optional<std::string_view> Get(uint64_t name);

 private:
  bool Fill(uint64_t name);

  const RandomAccess* source_;
  uint64_t offset_;
  uint64_t size_;
  std::vector<char> window_;
  uint64_t window_start_ = 0;
};

}  // namespace firetower::symbolizer
