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

// The functions that a JIT wrote to its perf-map file: lines "START SIZE name" in hex; the name may
// have spaces (Linux tools/perf/Documentation/jit-interface.txt). Where two lines overlap, the
// later one wins, because the JIT has reused the memory. Immutable.
//
// The file belongs to the profiled program, so every line may lie. Invalid lines, and lines beyond
// a bound, are skipped and counted as dropped. After kMaxDroppedLines of them, or a line that
// begins with a zero byte, the rest is not read. A last line without a newline is still being
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
