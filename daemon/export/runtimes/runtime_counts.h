// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/export/runtimes/runtime_facts.h"
#include "daemon/pipeline/slice.h"
#include "daemon/process/module.h"
#include "daemon/runtimes/runtime_notes.h"

namespace firetower::daemon {

// Counts samples by the interpreter whose code their stacks come through, and by whether its
// functions have names. Owned by the export thread. At most kMaxRuntimes are told apart.
class RuntimeCounts {
 public:
  static constexpr size_t kMaxRuntimes = 32;
  using ModuleOf = std::function<const Module&(uint32_t module)>;

  explicit RuntimeCounts(const RuntimeNotes& notes) : notes_(notes) {}

  // `module_of` finds the modules of the slice's frames.
  void Take(const Slice& slice, const ModuleOf& module_of);
  // Returns what is known; the window that ends, if `ends_window`, is then the last one.
  RuntimeFacts Facts(bool ends_window);

 private:
  struct Seen {
    std::shared_ptr<const RuntimeNote> note;  // null: no interpreter's code
    bool named = false;                       // its functions are shown
    bool unnamed = false;                     // one of them has no name
    bool known = false;
  };

  const Seen& Look(const Slice& slice, uint32_t stack, const ModuleOf& module_of);
  std::shared_ptr<const RuntimeNote> NoteOf(uint32_t module, const ModuleOf& module_of);
  void Count(const RuntimeNote& note, const Seen& seen, const Slice::ContainerEntry& entry,
             uint64_t samples);

  const RuntimeNotes& notes_;
  std::vector<Seen> stacks_;  // of the slice in hand
  std::unordered_map<uint32_t, std::shared_ptr<const RuntimeNote>> modules_;
  RuntimeFacts open_;  // totals, and the window that is not over yet
  std::map<std::string, UnsupportedRuntime> unsupported_;            // of it, by file
  std::map<std::string, std::map<std::string, uint64_t>> policies_;  // of it, by policy and file
  RuntimeFacts last_;
};

}  // namespace firetower::daemon
