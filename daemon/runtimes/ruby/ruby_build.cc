// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/ruby/ruby_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <vector>

#include "daemon/runtimes/elf_values.h"
#include "daemon/runtimes/loop_code.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfFile;
using symbolizer::FdeRange;

// The symbols that name a build: its version, and where the context is before 3.0 and from then on.
enum Name : size_t { kVersion, kGlobal, kContext, kNames };
constexpr std::array<std::string_view, kNames> kSymbols = {
    "ruby_version", "ruby_current_execution_context_ptr", "ruby_current_ec"};
using Symbols = std::array<symbolizer::FoundSymbol, kNames>;

// The structs of each minor version (vm_core.h, iseq.h, include/ruby/internal/core/rstring.h).
// Tried with Debian's 2.7, 3.1, 3.3 and 3.4; those of 3.0 and 3.2 by their published sources.
struct Layout {
  uint16_t version;  // major * 100 + minor
  uint16_t frame_bytes;
  uint16_t first_line_tagged;
  uint16_t lines;
  uint16_t entry_bytes;
  uint16_t string_length;
};
constexpr Layout kLayouts[] = {
    {207, 56, 1, 120, 8, 0},  {300, 56, 1, 120, 8, 0},  {301, 64, 1, 120, 12, 0},
    {302, 64, 0, 112, 12, 1}, {303, 56, 0, 112, 12, 1}, {304, 56, 0, 112, 12, 1},
};
constexpr uint16_t kFirstLine = 88;

Result<std::optional<uint16_t>> VersionOf(const ElfFile& file, const Symbols& symbols) {
  ASSIGN_OR_RETURN(const auto text,
                   (ReadElfValue<std::array<char, 5>>(file, symbols[kVersion].value)));
  uint16_t major = 0, minor = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.')
    return std::optional<uint16_t>();
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || major > 99 || minor > 99) return std::optional<uint16_t>();
  return std::optional<uint16_t>(static_cast<uint16_t>(major * 100 + minor));
}

Result<std::vector<std::byte>> CodeOf(const ElfFile& file, const FdeRange& function) {
  std::vector<std::byte> code(function.bytes);
  RETURN_IF_ERROR(ReadElfAt(file, function.begin_elf_vaddr, code));
  return code;
}

// Counts jumps to an address that a register points at: one ends each instruction of Ruby's.
size_t CountDispatches(std::span<const std::byte> code) {
  size_t count = 0;
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    const auto form = std::to_integer<uint8_t>(code[i + 1]);
    // 4 and 5 have further bytes, as jumps by way of the GOT do.
    if (code[i] == std::byte{0xff} && (form & 0xf8) == 0x20 && (form & 7) != 4 && (form & 7) != 5)
      ++count;
  }
  return count;
}

// Finds vm_exec_core(): of large functions the one with most such jumps.
Result<const FdeRange*> FindCore(const ElfFile& file, const std::vector<FdeRange>& functions) {
  constexpr uint32_t kSmallest = 5000, kLargest = 1u << 20;  // those of 2.7 to 3.4: 17 to 23 KB
  constexpr size_t kFewest = 8;
  const FdeRange* core = nullptr;
  size_t most = kFewest - 1;
  for (const FdeRange& function : functions) {
    if (function.bytes < kSmallest || function.bytes > kLargest) continue;
    ASSIGN_OR_RETURN(const std::vector<std::byte> code, CodeOf(file, function));
    if (const size_t count = CountDispatches(code); count > most) {
      most = count;
      core = &function;
    }
  }
  return core;
}

// Finds the one function that calls another: rb_vm_exec(). Null: none does, or several do.
Result<const FdeRange*> FindCaller(const ElfFile& file, const std::vector<FdeRange>& functions,
                                   const FdeRange& callee) {
  const FdeRange* caller = nullptr;
  // They are in one file of sources, so not far from each other.
  constexpr uint64_t kNear = 1u << 20;
  for (const FdeRange& function : functions) {
    const uint64_t distance = std::max(function.begin_elf_vaddr, callee.begin_elf_vaddr) -
                              std::min(function.begin_elf_vaddr, callee.begin_elf_vaddr);
    if (&function == &callee || distance > kNear || function.bytes > kNear) continue;
    ASSIGN_OR_RETURN(const std::vector<std::byte> code, CodeOf(file, function));
    for (size_t i = 0; i + 5 <= code.size(); ++i) {
      if (code[i] != std::byte{0xe8} ||
          TargetAt(code, i + 1, function.begin_elf_vaddr) != callee.begin_elf_vaddr)
        continue;
      if (caller != nullptr && caller != &function) return nullptr;
      caller = &function;
    }
  }
  return caller;
}

// Finds the slots of the GOT that say where a variable of the thread's is: {module, offset}.
Status FindSlots(const ElfFile& file, const Symbols& symbols, uint64_t bias, ft_ruby& build) {
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type != SHT_RELA || !file.SectionInFile(section)) continue;
    std::vector<Elf64_Rela> relocations(section.sh_size / sizeof(Elf64_Rela));
    RETURN_IF_ERROR(
        file.source().ReadAt(section.sh_offset, std::as_writable_bytes(std::span(relocations))));
    for (const Elf64_Rela& one : relocations) {
      if (ELF64_R_TYPE(one.r_info) != R_X86_64_DTPMOD64 || build.slots == FT_RUBY_SLOTS) continue;
      uint64_t offset = symbols[kContext].value;
      // A symbol's offset is filled in by a relocation too; of others it is there.
      if (ELF64_R_SYM(one.r_info) == 0) {
        ASSIGN_OR_RETURN(offset, ReadElfValue<uint64_t>(file, one.r_offset + 8));
      }
      build.slot[build.slots] = static_cast<int64_t>(one.r_offset - bias);
      build.offset[build.slots++] = static_cast<uint32_t>(offset);
    }
  }
  return {};
}

// Fills in where the build's parts lie. Returns why that is not known, or nothing.
Result<std::string> Place(const ElfFile& file, const Symbols& symbols, ft_ruby& build) {
  ASSIGN_OR_RETURN(const std::optional<uint64_t> bias, CodeBias(file));
  if (!bias) return std::string("its code is in segments with different offsets");
  if (build.version < 300) {
    if (symbols[kGlobal].value == 0) return std::string("it does not export its context");
    build.global = static_cast<int64_t>(symbols[kGlobal].value - *bias);
  } else {
    RETURN_IF_ERROR(FindSlots(file, symbols, *bias, build));
    if (build.slots == 0)
      return std::string("its context is no variable of a shared library: it is linked statically");
  }
  ASSIGN_OR_RETURN(const std::vector<FdeRange> functions, FindFunctionRanges(file));
  ASSIGN_OR_RETURN(const FdeRange* core, FindCore(file, functions));
  if (core == nullptr) return std::string("its loop was not found");
  ASSIGN_OR_RETURN(const FdeRange* loop, FindCaller(file, functions, *core));
  if (loop == nullptr) return std::string("what calls its loop was not found");
  build.loop = static_cast<int64_t>(loop->begin_elf_vaddr - *bias);
  build.loop_bytes = loop->bytes;
  build.core = static_cast<int64_t>(core->begin_elf_vaddr - *bias);
  build.core_bytes = core->bytes;
  ASSIGN_OR_RETURN(const std::vector<std::byte> code, CodeOf(file, *core));
  if (const auto* apart = FindPartSetApart(functions, code, core->begin_elf_vaddr)) {
    build.cold = static_cast<int64_t>(apart->begin_elf_vaddr - *bias);
    build.cold_bytes = apart->bytes;
  }
  return std::string();
}

}  // namespace

Result<FoundRuby> FindRuby(const ElfFile& file) {
  const auto symbols_found = symbolizer::FindSymbols(file, SHT_DYNSYM, kSymbols);
  if (!symbols_found) {
    if (symbols_found.error().code() == ErrorCode::kNotFound) return FoundRuby{};
    return symbols_found.error();
  }
  Symbols symbols{};
  for (const symbolizer::FoundSymbol& symbol : *symbols_found) symbols[symbol.name] = symbol;
  if (symbols[kVersion].value == 0) return FoundRuby{};
  ASSIGN_OR_RETURN(const std::optional<uint16_t> version, VersionOf(file, symbols));
  if (!version) return FoundRuby{};
  FoundRuby found;
  found.version = fmt::format("{}.{}", *version / 100, *version % 100);
  const auto* layout = std::ranges::find(kLayouts, *version, &Layout::version);
  if (layout == std::end(kLayouts)) {
    found.why = "its methods have no names; those of 2.7 to 3.4 have";
    return found;
  }
  ft_ruby build{};
  build.runtime_kind = FT_RUNTIME_RUBY;
  build.version = layout->version;
  build.frame_bytes = layout->frame_bytes;
  build.first_line = kFirstLine;
  build.first_line_tagged = layout->first_line_tagged;
  build.lines = layout->lines;
  build.entry_bytes = layout->entry_bytes;
  build.string_length = layout->string_length;
  ASSIGN_OR_RETURN(found.why, Place(file, symbols, build));
  if (found.why.empty()) found.build = build;
  return found;
}

}  // namespace firetower::daemon
