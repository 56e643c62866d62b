// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbolizer/perfmap/perf_map.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer {

// Collects the lines of a perf-map file and settles their overlaps.
class PerfMapBuilder {
 public:
  PerfMapBuilder() : names_(PerfMap::kMaxNamesBytes) {}

  // One line without its newline.
  void AddLine(std::string_view line);
  PerfMap Finish() &&;

 private:
  struct Entry {
    uint64_t start;
    uint32_t size_bytes;
    uint32_t name_offset;
    uint32_t line;  // a later line wins
    uint64_t end() const { return start + size_bytes; }
  };
  void Append(PerfMap& map, const Entry& entry, uint64_t from, uint64_t to) const;

  StringPool names_;
  std::vector<Entry> entries_;
  uint64_t dropped_lines_ = 0;
};

}  // namespace firetower::symbolizer
