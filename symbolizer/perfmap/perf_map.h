// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// The functions a JIT wrote to its perf-map file: lines "START SIZE name", hex, the name may have
// spaces (Linux tools/perf/Documentation/jit-interface.txt). A later line overrides an earlier one
// where they overlap: the JIT has reused the memory. Immutable.
//
// The file belongs to the profiled program: every line may lie, and lines that make no sense or
// exceed a bound are counted as dropped and skipped; after kMaxDroppedLines of them, or a line that
// begins with a zero byte, the rest is left unread. A last line without newline is still being
// written and is left for the next read.
class PerfMap {
 public:
  static constexpr size_t kMaxFileBytes = 64u << 20;
  static constexpr size_t kMaxEntries = 400'000;
  static constexpr size_t kMaxNamesBytes = 16u << 20;
  static constexpr size_t kMaxNameBytes = 1024;  // longer names are cut
  static constexpr size_t kMaxDroppedLines = 100'000;

  static PerfMap Parse(std::string_view text);

  std::optional<Symbol> Find(uint64_t abs_addr) const;

  size_t range_count() const { return starts_.size(); }
  uint64_t dropped_lines() const { return dropped_lines_; }
  size_t bytes() const;

 private:
  friend class PerfMapBuilder;
  struct Body {
    uint32_t size_bytes;
    uint32_t name_offset;
    uint64_t function_start;
  };
  std::vector<uint64_t> starts_;  // sorted
  std::vector<Body> bodies_;
  std::string names_;
  uint64_t dropped_lines_ = 0;
};

}  // namespace firetower::symbolizer
