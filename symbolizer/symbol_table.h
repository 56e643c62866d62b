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

// Bounds of one load: a hostile or monstrous file ends in kExhausted, not in a dead daemon.
struct LoadLimits {
  uint32_t max_symbols = 1'000'000;            // 20 bytes each while loading
  uint32_t max_name_bytes = 48u << 20;         // all names together
  uint32_t max_debugdata_bytes = 32u << 20;    // .gnu_debugdata, unpacked
  uint64_t max_lzma_memory_bytes = 80u << 20;  // xz -9 asks for a 64 MiB dictionary
};

// A loadable segment: where a piece of the file is in the object's address space.
struct LoadSegment {
  uint64_t file_offset;
  uint64_t elf_vaddr;
  uint64_t file_size_bytes;
  bool executable;
};

// One function at an address. `name` is mangled as in the file and lives as long as the table.
struct Symbol {
  std::string_view name;
  uint64_t offset;  // bytes from the function's start
};

// The functions of one object file: disjoint address ranges, sorted, and one blob of names.
// Immutable, so any thread may read it. Where symbols overlap, the ranges hold the winner that
// `eu-addr2line -f` would print; an address outside every symbol's end has no name here.
class SymbolTable {
 public:
  // A stretch of addresses with one name. `function_start` < `start` where another symbol, nested
  // in this function, took the addresses in between. Offsets are from the table's base.
  struct Range {
    uint32_t start;
    uint32_t size_bytes;
    uint32_t name_offset;
    uint32_t function_start;
    uint16_t name_bytes = 0;  // 0: as far as its NUL
  };
  // `ranges` sorted and disjoint; every name_offset is the start of a NUL-terminated name in
  // `names`. For the loaders of this module.
  SymbolTable(uint64_t base_vaddr, std::vector<LoadSegment> segments,
              const std::vector<Range>& ranges, NameBlob names);
  SymbolTable(uint64_t base_vaddr, std::vector<LoadSegment> segments,
              const std::vector<Range>& ranges, std::string_view names)
      : SymbolTable(base_vaddr, std::move(segments), ranges, NameBlob(names)) {}

  // The function at a byte of the file, as mappings tell it (pc - map start + map's file offset).
  std::optional<Symbol> Find(uint64_t file_offset) const;
  std::optional<Symbol> FindVaddr(uint64_t elf_vaddr) const;
  // Executable segments first: where two segments share a page of the file, a pc is in the code.
  std::optional<uint64_t> FileOffsetToVaddr(uint64_t file_offset) const;

  // What tells of the source; before the table is shared. Null: nothing does.
  void Attach(std::shared_ptr<const SourceFrames> source) { source_ = std::move(source); }
  const SourceFrames* source() const { return source_.get(); }
  // Appends the frames at an address, innermost first: of the source if it tells, else the
  // function. The outermost is the symbol's in any case, so that a function has one name with and
  // without its source. False if there is none.
  bool FindFrames(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const;

  size_t range_count() const { return starts_.size(); }
  // Computes a hash of every range and its name, the same for equal tables, wherever the file keeps
  // its strings. Costs a pass over the table.
  uint64_t NamesHash() const;
  // Everything this table holds on the heap, and itself.
  size_t bytes() const;

 private:
  static constexpr size_t kNotFound = StartIndex::kNone;
  // The range with an address, or kNotFound.
  size_t FindRange(uint64_t elf_vaddr) const;

  // Kept apart from `starts_`, which a lookup searches: the search touches 4 bytes an entry.
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
  // (index of a range, its function_start), sorted: only the ranges where the two differ.
  std::vector<std::pair<uint32_t, uint32_t>> continued_;
  NameBlob names_;
  std::shared_ptr<const SourceFrames> source_;
};

// Reads .symtab, .dynsym and .gnu_debugdata of a 64-bit little-endian ELF file, and .gopclntab of a
// Go program without .symtab. Pure: touches nothing but `source` and, if there is one, the file's
// separate debug file, whose .symtab is then the file's. A file without any function symbol gives
// an empty table. kUnsupported: not such a file. kCorrupt: damaged. kExhausted: a limit was
// reached.
Result<std::shared_ptr<SymbolTable>> LoadElfSymbols(const RandomAccess& source,
                                                    const LoadLimits& limits = {},
                                                    const RandomAccess* debug_file = nullptr);

// The same of a separate debug file alone. Such a file says where code is in memory, and mostly not
// where it is in its object: then the table has no FileOffsetToVaddr.
Result<std::shared_ptr<SymbolTable>> LoadDebugFileSymbols(const RandomAccess& debug_file,
                                                          const LoadLimits& limits = {});

// How a frame without a name reads, everywhere: "[libssl.so.3]+0x1f2a0". `offset` is the file
// offset (for the kernel: the distance from the region's start).
std::string FormatUnknown(std::string_view module_basename, uint64_t offset);

}  // namespace firetower::symbolizer
