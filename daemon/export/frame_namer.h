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

// A function at an address; one of several if calls were inlined.
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
  bool remote = false;   // `address` is a file offset, which a reader names later
  bool settled = true;   // false: looking again later may find a name
  uint64_t address = 0;  // in the object's own address space where it is known

  const std::string& name() const { return lines.front().name; }
  const std::string& system_name() const { return lines.front().system_name; }
};

// Names frames for the export thread. Reads lines for at most kMaxReadNs per slice, plus one unit;
// frames beyond that have their function's name until a later slice. Keeps demangled names between
// calls, bounded by kMaxMemo; perf-maps are bounded by their cache.
class FrameNamer {
 public:
  static constexpr size_t kMaxMemo = 20000;
  static constexpr int64_t kMaxReadNs = 200 * kNsPerMs;

  FrameNamer(SymbolLoader& loader, symbolizer::SymbolCache& cache, std::string proc_root,
             const Clock& clock = Clock::System());

  // Learns new modules of a slice, by the ids that slices use.
  void LearnModules(const Slice& slice);
  const Module& ModuleOf(const Frame& frame) const { return *modules_[frame.module]; }
  bool IsRemote(uint32_t module) const { return loader_.IsRemote(*modules_[module]); }

  // Must be called before naming a slice's frames. Forgets which tables and perf-maps were found
  // before.
  void BeginSlice();
  FrameName Name(const Frame& frame);
  // Names a frame that was not settled, without counting another miss.
  FrameName NameAgain(const Frame& frame);
  // Has a table read again that the cache has evicted. Holds this table, and no other, until the
  // next call or slice, so that tables which do not fit into the cache together are used one after
  // another. Waits at most `timeout_ms`. Returns false if no frame of `module` gets a name from it.
  bool ReadAgain(uint32_t module, int timeout_ms);

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  // Returns the counts since the last call, and the files that cannot be read at present.
  NameFacts TakeFacts();

 private:
  void CountLoss(const Frame& frame, const Module& module);
  FrameName NameFile(const Frame& frame, const Module& module);
  void DropTables();
  struct Table {
    symbolizer::SymbolCache::Found found;
    uint32_t number = 0;  // in demangled_
    // The file's own table, if `found` belongs to another file with the same build id.
    std::shared_ptr<const symbolizer::SymbolTable> own;
    bool better_missing = false;  // the cache evicted the other file's table
  };
  // Among the files with one build id, the one that names most functions. Null if two files name
  // equally many functions but differ: then the names of a stripped copy are unknown.
  struct Best {
    std::shared_ptr<const Module> module;
    uint32_t names = 0;
    uint64_t hash = 0;
  };
  // Returns the file whose names serve a stripped one; null if there is none, or if the file has
  // names of its own.
  std::shared_ptr<const Module> BetterThan(const Module& module);
  // Returns the cached table of a module. Until `deadline_ns` (monotonic), reads tables that the
  // cache does not have.
  Table FindTable(const std::shared_ptr<const Module>& module, int64_t deadline_ns);
  FrameName NameAt(const Table& table, uint64_t elf_vaddr, const Frame& frame,
                   const Module& module);
  FrameName NameKernel(const Frame& frame);
  FrameName NameJit(const Frame& frame, const Module& module);
  FrameName NameFunction(const Frame& frame, const Module& module);
  // Makes a frame of one function from a source other than a file's table.
  FrameName Named(std::string_view mangled, uint64_t address);
  // Makes a frame of the contents of frames_, which come from the table with that number.
  FrameName NamedFrames(uint32_t table, uint64_t address);
  FrameName Unnamed(const Frame& frame, const Module& module, uint64_t address,
                    bool settled = true);

  SymbolLoader& loader_;
  symbolizer::SymbolCache& cache_;
  std::vector<std::shared_ptr<const Module>> modules_;
  // Interpreters' functions by the numbers that slices use. The next slice has none of gone_.
  std::unordered_map<uint32_t, std::shared_ptr<const RuntimeFunction>> functions_;
  std::vector<uint32_t> gone_;
  // The cached tables of this slice by module id. Holding them protects them from eviction.
  std::unordered_map<uint32_t, Table> tables_;
  // By build id, filled from the first stripped file of a slice on. The keys belong to the modules.
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

// Returns the name that replaces a stack without frames: the stack is lost, or the sample had no
// frames of the kind that was asked for (user code, with a policy for kernel stacks).
std::string_view NameWithoutFrames(uint8_t stop);

// Returns the part of a path after the last slash.
std::string_view Basename(std::string_view path);

}  // namespace firetower::daemon
