// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/perfmap/perf_map.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer {

// Collects the lines of a perf-map file and resolves their overlaps.
class PerfMapBuilder {
 public:
  PerfMapBuilder() : names_(PerfMap::kMaxNamesBytes) {}

  // Adds the file's next bytes, split anywhere; the cost per byte is always the same. Returns false
  // when the rest of the file is not needed: the text has ended in zeros, because the writer
  // reserved room in advance, or the file is no perf-map.
  bool AddText(std::string_view text);
  // Ignores a last line without a newline.
  PerfMap Finish() &&;

 private:
  struct Entry {
    uint64_t start;
    uint32_t size_bytes;
    uint32_t name_offset;
    uint32_t line;  // a later line wins
    uint64_t end() const { return start + size_bytes; }
  };
  void AddLine(std::string_view line);
  void Append(PerfMap& map, const Entry& entry, uint64_t from, uint64_t to) const;

  StringPool names_;
  std::string pending_;  // a line's beginning, at most kMaxLineBytes
  bool ended_ = false;
  std::vector<Entry> entries_;
  uint64_t dropped_lines_ = 0;
};

}  // namespace firetower::symbolizer
