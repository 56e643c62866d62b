// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "symbolizer/elf/debugdata.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/signal_return.h"
#include "symbolizer/elf/symbols/named_ranges.h"
#include "symbolizer/elf/symbols/overlap.h"
#include "symbolizer/elf/symbols/radix_sort.h"
#include "symbolizer/elf/symbols/string_table.h"
#include "symbolizer/elf/symbols/symbol_reader.h"
#include "symbolizer/go/go_inlines.h"
#include "symbolizer/go/go_symbols.h"
#include "symbolizer/name_blob.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

namespace {

// Everything that must live while names are still offsets into string tables.
struct Loading {
  std::vector<RawSymbol> symbols;
  std::vector<StringTable> strings;
  std::vector<std::byte> debugdata;
  std::optional<MemorySource> debugdata_source;
  std::optional<ElfFile> debugdata_file;
  std::optional<ElfFile> debug_file;
  // .dynsym beside a .symtab: names what the (perhaps stripped) .symtab does not.
  std::optional<SymbolSection> rest;
};

std::vector<LoadSegment> Segments(const ElfFile& file) {
  std::vector<LoadSegment> segments;
  for (const Elf64_Phdr& header : file.program_headers()) {
    uint64_t end = 0;
    if (header.p_type != PT_LOAD || header.p_filesz == 0 ||
        __builtin_add_overflow(header.p_vaddr, header.p_filesz, &end)) {
      continue;
    }
    segments.push_back(
        {header.p_offset, header.p_vaddr, header.p_filesz, (header.p_flags & PF_X) != 0});
  }
  return segments;
}

// Returns the executable segments in memory, whether the file holds their bytes or not.
std::vector<LoadSegment> SegmentsInMemory(const ElfFile& file) {
  std::vector<LoadSegment> segments;
  for (const Elf64_Phdr& header : file.program_headers()) {
    uint64_t end = 0;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 && header.p_memsz != 0 &&
        !__builtin_add_overflow(header.p_vaddr, header.p_memsz, &end)) {
      segments.push_back({header.p_offset, header.p_vaddr, header.p_memsz, true});
    }
  }
  return segments;
}

Status AddSection(SymbolSection section, const AddressWindow& window, const LoadLimits& limits,
                  Loading& loading) {
  section.string_table = static_cast<uint8_t>(loading.strings.size());
  loading.strings.emplace_back(section.file->source(), *section.strings);
  return ReadSymbols(section, window, limits.max_symbols, nullptr, loading.symbols);
}

// Symbols beside .dynsym. A damaged or oversized one is left out: .dynsym is good without it.
Status AddDebugdata(const ElfFile& file, const AddressWindow& window, const LoadLimits& limits,
                    Loading& loading) {
  const Elf64_Shdr* packed = file.FindSection(".gnu_debugdata");
  if (packed == nullptr) return OkStatus();
  auto unpacked = UnpackXz(file.source(), packed->sh_offset, packed->sh_size, limits);
  if (!unpacked) return OkStatus();
  loading.debugdata = *std::move(unpacked);
  loading.debugdata_source.emplace(loading.debugdata);
  auto inner = ElfFile::Open(*loading.debugdata_source);
  if (!inner) return OkStatus();
  loading.debugdata_file = *std::move(inner);
  auto section = FindSymbolSection(*loading.debugdata_file, SHT_SYMTAB);
  if (!section) return OkStatus();
  return AddSection(*section, window, limits, loading);
}

// The functions of a Go program, which carries their names however it was stripped.
Status AddGoFunctions(const ElfFile& file, const AddressWindow& window, const LoadLimits& limits,
                      Loading& loading) {
  const auto string_table = static_cast<uint8_t>(loading.strings.size());
  ASSIGN_OR_RETURN(const std::optional<Elf64_Shdr> names,
                   ReadGoSymbols(file, window, string_table, limits.max_symbols, loading.symbols));
  if (names) loading.strings.emplace_back(file.source(), *names);
  return OkStatus();
}

// elfutils' choice: .symtab alone if there is one, here or in the separate debug file, else .dynsym
// and .gnu_debugdata together; and in a stripped Go program its function table.
Status CollectSymbols(const ElfFile& file, const AddressWindow& window, const LoadLimits& limits,
                      Loading& loading) {
  auto full = FindSymbolSection(file, SHT_SYMTAB);
  if (!full && loading.debug_file) {
    // A damaged one is left out, too.
    auto separate = FindSymbolSection(*loading.debug_file, SHT_SYMTAB);
    if (separate) full = *separate;
  }
  auto dynamic = FindSymbolSection(file, SHT_DYNSYM);
  for (const auto* section : {&full, &dynamic}) {
    if (!*section && section->error().code() != ErrorCode::kNotFound) return section->error();
  }
  if (full) {
    // All at once: growing copies.
    const uint64_t count = full->symbols->sh_size / sizeof(Elf64_Sym);
    loading.symbols.reserve(std::min<uint64_t>(count, limits.max_symbols));
    if (dynamic) loading.rest = *dynamic;
    return AddSection(*full, window, limits, loading);
  }
  if (dynamic) RETURN_IF_ERROR(AddSection(*dynamic, window, limits, loading));
  RETURN_IF_ERROR(AddGoFunctions(file, window, limits, loading));
  return AddDebugdata(file, window, limits, loading);
}

// Adds symbols of the remaining section, which mostly repeats the first one: only those that name
// an address without a name. They are appended after the others.
Status AddRest(const AddressWindow& window, const LoadLimits& limits, Loading& loading,
               std::vector<SymbolTable::Range>& ranges) {
  if (!loading.rest) return OkStatus();
  SymbolSection section = *loading.rest;
  section.string_table = static_cast<uint8_t>(loading.strings.size());
  const NamedRanges named(ranges);
  std::vector<RawSymbol> missing;
  const auto room = limits.max_symbols - static_cast<uint32_t>(loading.symbols.size());
  RETURN_IF_ERROR(ReadSymbols(section, window, room, &named, missing));
  if (missing.empty()) return OkStatus();
  loading.strings.emplace_back(section.file->source(), *section.strings);
  std::vector<SymbolTable::Range> others = ResolveOverlaps(missing);
  for (SymbolTable::Range& range : others) {
    range.name_offset += static_cast<uint32_t>(loading.symbols.size());
  }
  loading.symbols.insert(loading.symbols.end(), missing.begin(), missing.end());
  ranges = FillGaps(ranges, others);
  return OkStatus();
}

// A label reaches to the next symbol, so that musl's setjmp, which has no size, would name what
// signal handlers return to: a local function, whose own symbol is stripped.
void CutLabels(const ElfFile& file, const AddressWindow& window,
               const std::vector<RawSymbol>& symbols, std::vector<SymbolTable::Range>& ranges) {
  SignalReturnSearch search(file);
  for (SymbolTable::Range& range : ranges) {
    if (symbols[range.name_offset].sized) continue;
    const uint64_t begin = window.base() + range.start;
    const auto found = search.FindIn(begin + 1, begin + range.size_bytes);
    if (found) range.size_bytes = static_cast<uint32_t>(*found - begin);
  }
}

// The places of names in a string table (upper half), and the ranges that want them.
using WantedNames = std::vector<uint64_t>;

std::vector<WantedNames> NamesOf(const std::vector<SymbolTable::Range>& ranges,
                                 const Loading& loading) {
  std::vector<WantedNames> wanted(loading.strings.size());
  if (!wanted.empty()) wanted.front().reserve(ranges.size());  // mostly all
  for (size_t i = 0; i < ranges.size(); ++i) {
    const RawSymbol& symbol = loading.symbols[ranges[i].name_offset];
    wanted[symbol.string_table].push_back(uint64_t{symbol.name} << 32 | i);
  }
  return wanted;
}

// In the order of their place. A range whose name is none gets size 0.
Status ReadNames(WantedNames wanted, const LoadLimits& limits, StringTable& strings,
                 NameBlob& names, std::vector<SymbolTable::Range>& ranges) {
  SortByUpperHalf(wanted);
  uint64_t last = UINT64_MAX;
  uint32_t offset = 0;
  size_t bytes = 0;
  for (uint64_t want : wanted) {
    SymbolTable::Range& range = ranges[static_cast<uint32_t>(want)];
    if (want >> 32 != last) {
      auto name = strings.Get(want >> 32);
      if (!name || name->empty()) {
        range.size_bytes = 0;
        continue;
      }
      if (names.size() + name->size() >= limits.max_name_bytes) {
        return Error(ErrorCode::kExhausted, "too many bytes of symbol names in one file");
      }
      bytes = name->size();
      offset = names.Add(*name);
      last = want >> 32;
    }
    range.name_offset = offset;
    range.name_bytes = static_cast<uint16_t>(bytes);  // at most StringTable::kMaxNameBytes
  }
  return OkStatus();
}

// `segments` are those of the table; the window may be that of another file.
Result<std::shared_ptr<SymbolTable>> LoadFrom(const ElfFile& file, const AddressWindow& window,
                                              std::vector<LoadSegment> segments,
                                              const LoadLimits& limits, Loading& loading) {
  if (!window.empty()) RETURN_IF_ERROR(CollectSymbols(file, window, limits, loading));
  std::vector<SymbolTable::Range> ranges = ResolveOverlaps(loading.symbols);
  CutLabels(file, window, loading.symbols, ranges);
  RETURN_IF_ERROR(AddRest(window, limits, loading, ranges));
  std::vector<WantedNames> wanted = NamesOf(ranges, loading);
  loading.symbols = {};
  NameBlob names;
  for (size_t i = 0; i < wanted.size(); ++i) {
    RETURN_IF_ERROR(ReadNames(std::move(wanted[i]), limits, loading.strings[i], names, ranges));
  }
  std::erase_if(ranges, [](const SymbolTable::Range& range) { return range.size_bytes == 0; });
  names.ShrinkToFit();
  return std::make_shared<SymbolTable>(window.base(), std::move(segments), ranges,
                                       std::move(names));
}

}  // namespace

Result<std::shared_ptr<SymbolTable>> LoadElfSymbols(const RandomAccess& source,
                                                    const LoadLimits& limits,
                                                    const RandomAccess* debug_file) {
  ASSIGN_OR_RETURN(ElfFile file, ElfFile::Open(source));
  std::vector<LoadSegment> segments = Segments(file);
  AddressWindow window(segments);
  Loading loading;
  if (debug_file != nullptr) {
    if (auto opened = ElfFile::Open(*debug_file)) loading.debug_file = *std::move(opened);
  }
  ASSIGN_OR_RETURN(std::shared_ptr<SymbolTable> table,
                   LoadFrom(file, window, std::move(segments), limits, loading));
  table->Attach(LoadGoInlines(file, *table));
  return table;
}

Result<std::shared_ptr<SymbolTable>> LoadDebugFileSymbols(const RandomAccess& debug_file,
                                                          const LoadLimits& limits) {
  ASSIGN_OR_RETURN(ElfFile file, ElfFile::Open(debug_file));
  std::vector<LoadSegment> segments = Segments(file);
  // objcopy removes the segments' bytes and moves the rest; eu-strip keeps the offsets.
  const bool has_code = std::any_of(segments.begin(), segments.end(),
                                    [](const LoadSegment& segment) { return segment.executable; });
  if (!has_code) segments.clear();
  AddressWindow window(has_code ? segments : SegmentsInMemory(file));
  Loading loading;
  return LoadFrom(file, window, std::move(segments), limits, loading);
}

}  // namespace firetower::symbolizer
