// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/trace_symbol.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "daemon/runtimes/elf_values.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfFile;

constexpr std::array<std::string_view, 1> kSymbols = {"otel_thread_ctx_v1"};

const Elf64_Phdr* SegmentOf(const ElfFile& file, uint32_t type) {
  const auto found = std::ranges::find(file.program_headers(), type, &Elf64_Phdr::p_type);
  return found == file.program_headers().end() ? nullptr : &*found;
}

// Tells whether the file is a program, not a library. One without an interpreter may still be
// linked statically, and say so in its dynamic section.
Result<bool> IsProgram(const ElfFile& file) {
  if (file.type() == ET_EXEC || SegmentOf(file, PT_INTERP) != nullptr) return true;
  const Elf64_Phdr* dynamic = SegmentOf(file, PT_DYNAMIC);
  if (dynamic == nullptr) return false;
  constexpr uint64_t kMostEntries = 4096;
  std::vector<Elf64_Dyn> entries(std::min(dynamic->p_filesz / sizeof(Elf64_Dyn), kMostEntries));
  RETURN_IF_ERROR(
      file.source().ReadAt(dynamic->p_offset, std::as_writable_bytes(std::span(entries))));
  return std::ranges::any_of(entries, [](const Elf64_Dyn& entry) {
    return entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0;
  });
}

// Returns the offset from FS of a variable of the program: its block ends there.
std::optional<int64_t> OffsetInProgram(const ElfFile& file, uint64_t value) {
  const Elf64_Phdr* block = SegmentOf(file, PT_TLS);
  constexpr uint64_t kLargest = uint64_t{1} << 30;
  if (block == nullptr || block->p_memsz > kLargest || value >= block->p_memsz) return std::nullopt;
  const uint64_t align = std::max<uint64_t>(block->p_align, 1);
  if (align > kLargest || (align & (align - 1)) != 0) return std::nullopt;
  const uint64_t bytes = (block->p_memsz + align - 1) & ~(align - 1);
  return static_cast<int64_t>(value) - static_cast<int64_t>(bytes);
}

// Reads the relocations one part after the other: a file may say that it has any number.
template <typename Visit>
Status ForEachRelocation(const ElfFile& file, const Elf64_Shdr& section, const Visit& visit) {
  constexpr uint64_t kMost = 2048;
  const uint64_t count = section.sh_size / sizeof(Elf64_Rela);
  std::vector<Elf64_Rela> part;
  for (uint64_t at = 0; at < count; at += part.size()) {
    part.resize(std::min(kMost, count - at));
    RETURN_IF_ERROR(file.source().ReadAt(section.sh_offset + at * sizeof(Elf64_Rela),
                                         std::as_writable_bytes(std::span(part))));
    for (const Elf64_Rela& one : part) RETURN_IF_ERROR(visit(one));
  }
  return OkStatus();
}

// Tells whether a relocation is of the variable: by its symbol, or by its place in the block.
Result<bool> IsOfSymbol(const ElfFile& file, const Elf64_Shdr& symbols, const Elf64_Rela& one,
                        const symbolizer::FoundSymbol& wanted) {
  const uint64_t index = ELF64_R_SYM(one.r_info);
  if (index == 0)
    return ELF64_R_TYPE(one.r_info) != R_X86_64_DTPMOD64 &&
           static_cast<uint64_t>(one.r_addend) == wanted.value;
  if (index >= symbols.sh_size / sizeof(Elf64_Sym)) return false;
  Elf64_Sym symbol{};
  RETURN_IF_ERROR(file.source().ReadAt(symbols.sh_offset + index * sizeof(Elf64_Sym),
                                       std::as_writable_bytes(std::span(&symbol, 1))));
  return ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF &&
         symbol.st_value == wanted.value;
}

// Reads what a relocation says of the variable; nothing if it is of something else.
Result<std::optional<TraceSymbol>> AccessOf(const ElfFile& file, const Elf64_Shdr& symbols,
                                            const Elf64_Rela& one,
                                            const symbolizer::FoundSymbol& wanted) {
  TraceSymbol found;
  switch (ELF64_R_TYPE(one.r_info)) {
    case R_X86_64_TPOFF64:
      found.access = TraceSymbol::Access::kOffset;
      break;
    case R_X86_64_TLSDESC:
      found.access = TraceSymbol::Access::kDescriptor;
      break;
    case R_X86_64_DTPMOD64:
      found.access = TraceSymbol::Access::kModuleIndex;
      if (ELF64_R_SYM(one.r_info) != 0) break;
      // Some variable that is bound to this file: all of them are in one module.
      found.in_block = wanted.value;
      return std::optional(found);
    default:
      return std::optional<TraceSymbol>();
  }
  ASSIGN_OR_RETURN(const bool is_ours, IsOfSymbol(file, symbols, one, wanted));
  return is_ours ? std::optional(found) : std::nullopt;
}

}  // namespace

Result<std::optional<TraceSymbol>> FindTraceSymbol(const ElfFile& file) {
  const auto found = symbolizer::FindSymbols(file, SHT_DYNSYM, kSymbols);
  if (!found) {
    if (found.error().code() == ErrorCode::kNotFound) return std::optional<TraceSymbol>();
    return found.error();
  }
  const auto symbol = std::ranges::find(*found, STT_TLS, &symbolizer::FoundSymbol::type);
  if (symbol == found->end()) return std::optional<TraceSymbol>();
  const auto symbols = std::ranges::find(file.sections(), SHT_DYNSYM, &Elf64_Shdr::sh_type);
  ASSIGN_OR_RETURN(const std::optional<uint64_t> bias, CodeBias(file));
  std::optional<TraceSymbol> found_access;
  for (const Elf64_Shdr& section : file.sections()) {
    if (!bias || section.sh_type != SHT_RELA || !file.SectionInFile(section)) continue;
    RETURN_IF_ERROR(ForEachRelocation(file, section, [&](const Elf64_Rela& one) -> Status {
      if (found_access && !found_access->in_block) return OkStatus();
      ASSIGN_OR_RETURN(std::optional<TraceSymbol> access, AccessOf(file, *symbols, one, *symbol));
      if (!access) return OkStatus();
      access->slot = static_cast<int64_t>(one.r_offset - *bias);
      found_access = access;
      return OkStatus();
    }));
  }
  if (found_access) return found_access;
  // The code of a program knows the offset itself.
  ASSIGN_OR_RETURN(const bool is_program, IsProgram(file));
  if (!is_program) return std::optional<TraceSymbol>();
  const std::optional<int64_t> offset = OffsetInProgram(file, symbol->value);
  if (!offset) return std::optional<TraceSymbol>();
  return std::optional(TraceSymbol{.access = TraceSymbol::Access::kExecutable, .offset = *offset});
}

}  // namespace firetower::daemon
