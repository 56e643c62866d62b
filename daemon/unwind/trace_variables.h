// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bpf/abi/unwind.h"
#include "daemon/process/process_table.h"
#include "daemon/runtimes/remote_memory.h"
#include "daemon/runtimes/trace_symbol.h"

namespace firetower::daemon {

// The place of the variable otel_thread_ctx_v1 of a process's threads (struct ft_space).
struct TraceVariable {
  uint16_t kind = FT_TRACE_NONE;  // enum ft_trace_kind
  uint16_t dtv_bytes = 0;
  uint32_t module = 0;
  int64_t offset = 0;

  bool operator==(const TraceVariable&) const = default;
};

// Knows where processes publish what their threads work on. Owned by the resolve thread; it reads
// the processes' memory there.
class TraceVariables {
 public:
  // The most processes that are kept; samples of further ones have no trace.
  static constexpr size_t kMax = 4096;
  // How often a variable is looked for that the loader has not placed yet.
  static constexpr int kMaxTries = 100;
  using Open = std::function<std::unique_ptr<RemoteMemory>(uint32_t pid)>;
  using IsMusl = std::function<bool(uint32_t module)>;

  // `is_musl` tells whether a module is musl's loader.
  explicit TraceVariables(IsMusl is_musl, Open open = OpenProcessMemory)
      : is_musl_(std::move(is_musl)), open_(std::move(open)) {}

  // Notes that a module has the variable, and forgets it when its id is another file's.
  void AddLibrary(uint32_t module, const TraceSymbol& symbol) { libraries_[module] = symbol; }
  void ForgetLibrary(uint32_t module) { libraries_.erase(module); }

  // Returns where the process has it, as far as its mappings and its memory tell by now. Of several
  // files that have one, the first whose loader has placed it counts.
  TraceVariable Find(const Process& process);
  // Returns the processes whose variable was not placed yet when it was looked for, and may be now.
  std::vector<uint32_t> Unplaced() const;
  template <typename IsGone>
  void ForgetIf(IsGone is_gone) {
    std::erase_if(known_, [&](const auto& entry) { return is_gone(entry.first); });
  }

 private:
  struct Known {
    uint32_t identity = 0;  // of the process's image
    int tries = 0;
    uint32_t module = 0;  // that has the variable, and where it is mapped
    uint64_t bias = 0;
    TraceVariable variable;
  };

  // Nothing: the loader has not placed it.
  static std::optional<TraceVariable> Place(const TraceSymbol& symbol, uint64_t bias,
                                            const RemoteMemory& memory, bool musl);

  IsMusl is_musl_;
  Open open_;
  std::unordered_map<uint32_t, TraceSymbol> libraries_;  // by module
  std::unordered_map<uint32_t, Known> known_;            // by pid
};

}  // namespace firetower::daemon
