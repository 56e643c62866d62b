// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "symbolizer/name_blob.h"
#include "symbolizer/random_access.h"
#include "symbolizer/source_frames.h"
#include "symbolizer/start_index.h"

namespace firetower::symbolizer {

// Limits of one load, so that a hostile or huge file ends in kExhausted and not in a dead daemon.
struct LoadLimits {
  uint32_t max_symbols = 1'000'000;            // 20 bytes each while loading
  uint32_t max_name_bytes = 48u << 20;         // all names together
  uint32_t max_debugdata_bytes = 32u << 20;    // .gnu_debugdata, unpacked
  uint64_t max_lzma_memory_bytes = 80u << 20;  // xz -9 asks for a 64 MiB dictionary
};

// A loadable segment: a piece of the file with its place in the object's address space.
struct LoadSegment {
  uint64_t file_offset;
  uint64_t elf_vaddr;
  uint64_t file_size_bytes;
  bool executable;
};

// The function at one address. `name` is mangled as in the file and lives as long as the table.
struct Symbol {
  std::string_view name;
  uint64_t offset;  // bytes from the function's start
};

// The functions of one object file: disjoint address ranges, sorted, and one blob of names.
// Immutable, so any thread may read it. Where symbols overlap, the ranges hold the winner that
// `eu-addr2line -f` would print; an address outside every symbol's end has no name here.
class SymbolTable {
 public:
  // A range of addresses with one name. `function_start` is below `start` when another symbol,
  // nested in this function, has the addresses between. Offsets count from the table's base.
  struct Range {
    uint32_t start;
    uint32_t size_bytes;
    uint32_t name_offset;
    uint32_t function_start;
    uint16_t name_bytes = 0;  // 0: as far as its NUL
  };
  // Expects sorted and disjoint `ranges`. Every name_offset is the start of a NUL-terminated name
  // in `names`. For the loaders of this module.
  SymbolTable(uint64_t base_vaddr, std::vector<LoadSegment> segments,
              const std::vector<Range>& ranges, NameBlob names);
  SymbolTable(uint64_t base_vaddr, std::vector<LoadSegment> segments,
              const std::vector<Range>& ranges, std::string_view names)
      : SymbolTable(base_vaddr, std::move(segments), ranges, NameBlob(names)) {}

  // Returns the function at a file offset, as mappings give it (pc - map start + map's file
  // offset).
  std::optional<Symbol> Find(uint64_t file_offset) const;
  std::optional<Symbol> FindVaddr(uint64_t elf_vaddr) const;
  // Prefers executable segments: where two segments share a page of the file, a pc is in the code.
  std::optional<uint64_t> FileOffsetToVaddr(uint64_t file_offset) const;

  // Adds a source of lines and inlined calls (null: none). Must be called before the table is
  // shared.
  void Attach(std::shared_ptr<const SourceFrames> source) { source_ = std::move(source); }
  const SourceFrames* source() const { return source_.get(); }
  // Appends the frames at an address, innermost first: from the attached source if it has any, else
  // the symbol. The outermost frame always has the symbol's name, so that a function has one name
  // with and without the source. Returns false if there is no frame.
  bool FindFrames(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const;

  size_t range_count() const { return starts_.size(); }
  // Computes a hash of every range and its name, the same for equal tables, wherever the file keeps
  // its strings. Costs a pass over the table.
  uint64_t NamesHash() const;
  // The size of this table and everything that it holds on the heap.
  size_t bytes() const;

 private:
  static constexpr size_t kNotFound = StartIndex::kNone;
  // Returns the index of the range with an address, or kNotFound.
  size_t FindRange(uint64_t elf_vaddr) const;

  // Stored apart from `starts_`, so that a search reads only 4 bytes per entry.
  struct Body {
    uint32_t size_bytes;
    uint32_t name_offset;
    uint32_t name_bytes;  // so that the name itself is not looked at to find it
  };
  std::string_view NameOf(const Body& body) const {
    return {names_.At(body.name_offset), body.name_bytes};
  }

  uint64_t base_vaddr_;
  std::vector<LoadSegment> segments_;
  StartIndex starts_;
  std::vector<Body> bodies_;
  // Pairs (index of a range, its function_start), sorted, for the ranges where start and
  // function_start differ.
  std::vector<std::pair<uint32_t, uint32_t>> continued_;
  NameBlob names_;
  std::shared_ptr<const SourceFrames> source_;
};

// Reads .symtab, .dynsym and .gnu_debugdata of a 64-bit little-endian ELF file, and .gopclntab of a
// Go program without .symtab. Reads nothing but `source` and the separate debug file; if that is
// given, its .symtab replaces the file's. A file without function symbols gives an empty table.
// kUnsupported: not such a file. kCorrupt: damaged. kExhausted: a limit was reached.
Result<std::shared_ptr<SymbolTable>> LoadElfSymbols(const RandomAccess& source,
                                                    const LoadLimits& limits = {},
                                                    const RandomAccess* debug_file = nullptr);

// Reads the symbols of a separate debug file alone. Such a file has the addresses of code in
// memory, but mostly not its offsets in the object: then the table has no FileOffsetToVaddr.
Result<std::shared_ptr<SymbolTable>> LoadDebugFileSymbols(const RandomAccess& debug_file,
                                                          const LoadLimits& limits = {});

// Formats a frame without a name: "[libssl.so.3]+0x1f2a0". `offset` is the file offset; for the
// kernel it is the distance from the region's start.
std::string FormatUnknown(std::string_view module_basename, uint64_t offset);

}  // namespace firetower::symbolizer
