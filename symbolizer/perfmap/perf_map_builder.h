// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/perfmap/perf_map.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer {

// Collects the lines of a perf-map file and settles their overlaps.
class PerfMapBuilder {
 public:
  PerfMapBuilder() : names_(PerfMap::kMaxNamesBytes) {}

  // The file's next bytes, cut anywhere; each costs the same, whatever they are. False when no more
  // of the file is wanted: its text has ended in zeros, as where a writer made room in advance, or
  // it is no perf-map.
  bool AddText(std::string_view text);
  // What was not ended by a newline is left out.
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
