// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/abi/runtime.h"
#include "bpf/abi/unwind.h"
#include "daemon/runtimes/hotspot/vm_structs.h"
#include "daemon/runtimes/trace_symbol.h"
#include "daemon/runtimes/v8/v8_build.h"

namespace firetower::daemon {

// The unwind table of one file in the form that the walk reads (bpf/abi/unwind.h), not yet in the
// arena. Keyed by file offset, so that every process that maps the file shares it.
struct PackedTable {
  uint32_t first_block = 0;
  std::vector<uint32_t> blocks;  // for each block the index of its first row; one more at the end
  std::vector<uint32_t> rows;
  std::vector<ft_rule> rules;
  std::optional<ft_interpreter> interpreter;  // the file is one with frames beside the stack
  std::optional<HotSpotSymbols> hotspot;      // the file is a libjvm
  std::optional<V8Build> v8;                  // the file has V8
  std::optional<TraceSymbol> trace;           // it has a variable in which threads tell their trace
  std::string runtime;                        // which: "CPython 3.11"
  std::string nameless;  // why its functions have no names, for people; empty: they have

  bool empty() const { return rows.empty(); }
  size_t bytes() const {
    return blocks.size() * sizeof(uint32_t) + rows.size() * sizeof(uint32_t) +
           rules.size() * sizeof(ft_rule);
  }
};

}  // namespace firetower::daemon
