// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "daemon/export/name_losses.h"
#include "daemon/export/symbol_loader.h"
#include "daemon/pipeline/slice.h"
#include "symbolizer/name_memo.h"
#include "symbolizer/perfmap/perf_map_cache.h"
#include "symbolizer/symbol_cache.h"

namespace firetower::daemon {

// A function at an address; one of several where calls were inlined.
struct FrameLine {
  std::string name = {};         // demangled; "[module]+0xoffset" where nothing covers the address
  std::string system_name = {};  // as in the file
  std::string file = {};         // of its source; empty: not known, as are zeros below
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t start_line = 0;
};

struct FrameName {
  std::vector<FrameLine> lines;  // innermost first; none if `remote`
  bool named = false;
  bool remote = false;   // `address` is a file offset, for somebody else to name
  bool settled = true;   // false: looking again later may find a name
  uint64_t address = 0;  // in the object's own address space where it is known

  const std::string& name() const { return lines.front().name; }
  const std::string& system_name() const { return lines.front().system_name; }
};

// Names frames for the export thread. Reading lines takes kMaxReadNs a slice and one unit at most:
// what is beyond has its function's name until a later slice. Demangled names are kept between
// calls, bounded by kMaxMemo; perf-maps by their cache.
class FrameNamer {
 public:
  static constexpr size_t kMaxMemo = 20000;
  static constexpr int64_t kMaxReadNs = 200 * kNsPerMs;

  FrameNamer(SymbolLoader& loader, symbolizer::SymbolCache& cache, std::string proc_root,
             const Clock& clock = Clock::System());

  // Modules by the ids that slices use; grows as slices tell of new ones.
  void LearnModules(const Slice& slice);
  const Module& ModuleOf(const Frame& frame) const { return *modules_[frame.module]; }
  bool IsRemote(uint32_t module) const { return loader_.IsRemote(*modules_[module]); }

  // Call before naming a slice's frames: looks at tables and perf-maps afresh.
  void BeginSlice();
  FrameName Name(const Frame& frame);
  // For a frame that was not settled: no further miss is counted.
  FrameName NameAgain(const Frame& frame);
  // Has a table read again that the cache does not have, and holds it, and no other, until the next
  // such call or slice, whatever the cache does: tables that do not fit there together are used one
  // after another. Waits at most `timeout_ms`. False: no frame of `module` gets a name by that.
  bool ReadAgain(uint32_t module, int timeout_ms);

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  // Returns what was counted since the last call, and which files cannot be read as it is called.
  NameFacts TakeFacts();

 private:
  void CountLoss(const Frame& frame, const Module& module);
  FrameName NameFile(const Frame& frame, const Module& module);
  void DropTables();
  struct Table {
    symbolizer::SymbolCache::Found found;
    uint32_t number = 0;  // in demangled_
    // The file's own table, where `found` is of another file with its build id.
    std::shared_ptr<const symbolizer::SymbolTable> own;
    bool better_missing = false;  // the cache gave the other file's up
  };
  // Of the files with one build id the one that names most functions. Null where two of them name
  // as many and differ: then nobody knows what a stripped copy's would be.
  struct Best {
    std::shared_ptr<const Module> module;
    uint32_t names = 0;
    uint64_t hash = 0;
  };
  // The file to name a stripped one's functions; null if there is none, or it has its own.
  std::shared_ptr<const Module> BetterThan(const Module& module);
  // What the cache has for a module; `deadline_ns` (monotonic): reads what it does not have, while
  // there is time.
  Table FindTable(const std::shared_ptr<const Module>& module, int64_t deadline_ns);
  FrameName NameAt(const Table& table, uint64_t elf_vaddr, const Frame& frame,
                   const Module& module);
  FrameName NameKernel(const Frame& frame);
  FrameName NameJit(const Frame& frame, const Module& module);
  // One function, by what is no table of a file.
  FrameName Named(std::string_view mangled, uint64_t address);
  // What is in frames_, from the table with that number.
  FrameName NamedFrames(uint32_t table, uint64_t address);
  FrameName Unnamed(const Frame& frame, const Module& module, uint64_t address,
                    bool settled = true);

  SymbolLoader& loader_;
  symbolizer::SymbolCache& cache_;
  std::vector<std::shared_ptr<const Module>> modules_;
  // What the cache said in this slice, by module id; tables are held so that an eviction cannot
  // pull them away.
  std::unordered_map<uint32_t, Table> tables_;
  // By build id, from the first stripped file of a slice on; keys are the modules'.
  std::unordered_map<std::string_view, Best> bests_;
  bool has_bests_ = false;
  std::shared_ptr<const symbolizer::Kallsyms> kernel_;
  symbolizer::PerfMapCache perf_maps_;
  symbolizer::NameMemo demangled_;
  std::vector<symbolizer::SourceFrame> frames_;  // scratch
  const Clock& clock_;
  int64_t read_ns_ = 0;  // spent on reading lines in this slice
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  bool is_again_ = false;     // a name is looked up once more
  uint64_t facts_begin_ = 0;  // hits_ and misses_ when TakeFacts() was called last
  std::array<uint64_t, kNameLosses> losses_ = {};  // since then
  // Frames of kNoSymbol by file, since then.
  std::unordered_map<std::shared_ptr<const Module>, uint64_t> no_symbol_;
};

// What stands for a stack without frames: it is lost, or what the sample showed has no frames of
// the kind that was asked for (user code, with a policy for kernel stacks).
std::string_view NameWithoutFrames(uint8_t stop);

// The part of a path after the last slash.
std::string_view Basename(std::string_view path);

}  // namespace firetower::daemon
