// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/php/php_build.h"

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

// The symbols that name a build; the last one is that of builds with threads (ZTS), whose globals
// are each thread's own.
enum Name : size_t { kGlobals, kLoop, kThreads, kNames };
constexpr std::array<std::string_view, kNames> kSymbols = {"executor_globals", "execute_ex",
                                                           "executor_globals_offset"};
using Symbols = std::array<symbolizer::FoundSymbol, kNames>;

// The structs of each minor version, as offsetof says with that version's own headers
// (Zend/zend_compile.h, zend_globals.h): tried with those of 7.4, 8.2, 8.4 and 8.5; those of 8.0,
// 8.1 and 8.3 by their published sources.
struct Layout {
  uint16_t version;  // major * 100 + minor
  uint16_t current;  // in struct _zend_executor_globals
  uint16_t last, opcodes, file, first_line;
};
constexpr Layout kLayouts[] = {
    {704, 488, 60, 64, 136, 144},  {800, 488, 68, 72, 144, 152}, {801, 488, 68, 72, 144, 152},
    {802, 488, 80, 88, 152, 160},  {803, 488, 76, 80, 144, 152}, {804, 488, 96, 104, 168, 176},
    {805, 512, 96, 104, 168, 176},
};

// The header that tells a server's version (main/SAPI.h).
constexpr std::string_view kVersionHeader = "X-Powered-By: PHP/";
constexpr size_t kChunkBytes = 64u << 10;

// Returns the version as major * 100 + minor; nothing if a text is none.
std::optional<uint16_t> ParseVersion(std::string_view text) {
  uint16_t major = 0, minor = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || major > 99 || minor > 99) return std::nullopt;
  return static_cast<uint16_t>(major * 100 + minor);
}

// Looks for the header among the file's bytes that are neither code nor written to.
Result<std::optional<uint16_t>> VersionOf(const ElfFile& file) {
  constexpr size_t kOverlap = kVersionHeader.size() + 16;
  std::vector<char> chunk(kChunkBytes);
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_X | PF_W)) != 0) continue;
    for (uint64_t at = 0; at < segment.p_filesz; at += kChunkBytes - kOverlap) {
      const std::span<char> part(chunk.data(),
                                 std::min<uint64_t>(kChunkBytes, segment.p_filesz - at));
      RETURN_IF_ERROR(file.source().ReadAt(segment.p_offset + at, std::as_writable_bytes(part)));
      const std::string_view text(part.data(), part.size());
      const size_t header = text.find(kVersionHeader);
      if (header == std::string_view::npos) continue;
      return ParseVersion(text.substr(header + kVersionHeader.size(), 16));
    }
  }
  return std::optional<uint16_t>();
}

// Returns the address behind the loop's first jump to an opcode's handler, in R15; 0: there is
// none, as in builds in which handlers are functions, whose compiler is not known here.
uint64_t BodyOf(std::span<const std::byte> code, uint64_t elf_vaddr) {
  constexpr std::array kJump = {std::byte{0x41}, std::byte{0xff}, std::byte{0x27}};  // *(%r15)
  const auto first = code.first(std::min<size_t>(code.size(), 512));
  const auto found = std::search(first.begin(), first.end(), kJump.begin(), kJump.end());
  if (found == first.end()) return 0;
  return elf_vaddr + static_cast<uint64_t>(found - first.begin()) + kJump.size();
}

// Fills in where the build's parts lie. Returns why that is not known, or nothing.
Result<std::string> Place(const ElfFile& file, const Symbols& symbols, const Layout& layout,
                          ft_php& build) {
  constexpr uint64_t kLargestLoop = 16u << 20;  // those of 7.4 to 8.5 have 35 to 43 KB
  if (symbols[kLoop].size == 0 || symbols[kLoop].size > kLargestLoop)
    return std::string("it does not say how large its loop is");
  ASSIGN_OR_RETURN(const std::optional<uint64_t> bias, CodeBias(file));
  if (!bias) return std::string("its code is in segments with different offsets");
  build.runtime_kind = FT_RUNTIME_PHP;
  build.version = layout.version;
  build.opcodes = layout.opcodes;
  build.last = layout.last;
  build.file = layout.file;
  build.first_line = layout.first_line;
  build.current = static_cast<int64_t>(symbols[kGlobals].value + layout.current - *bias);
  build.loop = static_cast<int64_t>(symbols[kLoop].value - *bias);
  build.loop_bytes = static_cast<uint32_t>(symbols[kLoop].size);
  std::vector<std::byte> code(symbols[kLoop].size);
  RETURN_IF_ERROR(ReadElfAt(file, symbols[kLoop].value, code));
  if (const uint64_t body = BodyOf(code, symbols[kLoop].value); body != 0)
    build.body = static_cast<int64_t>(body - *bias);
  const auto functions = FindFunctionRanges(file);
  if (!functions) return std::string();
  // The part of the loop that GCC sets apart (execute_ex.cold) calls handlers of errors.
  const auto* apart = FindPartSetApart(*functions, code, symbols[kLoop].value);
  if (apart == nullptr) return std::string();
  build.cold = static_cast<int64_t>(apart->begin_elf_vaddr - *bias);
  build.cold_bytes = apart->bytes;
  return std::string();
}

}  // namespace

Result<FoundPhp> FindPhp(const ElfFile& file) {
  const auto symbols_found = symbolizer::FindSymbols(file, SHT_DYNSYM, kSymbols);
  if (!symbols_found) {
    if (symbols_found.error().code() == ErrorCode::kNotFound) return FoundPhp{};
    return symbols_found.error();
  }
  Symbols symbols{};
  for (const symbolizer::FoundSymbol& symbol : *symbols_found) symbols[symbol.name] = symbol;
  // An extension only refers to them.
  if (symbols[kLoop].value == 0) return FoundPhp{};
  ASSIGN_OR_RETURN(const std::optional<uint16_t> version, VersionOf(file));
  if (!version) return FoundPhp{};
  FoundPhp found;
  found.version = fmt::format("{}.{}", *version / 100, *version % 100);
  if (symbols[kThreads].value != 0 || symbols[kGlobals].value == 0) {
    found.why = "built with threads (ZTS): its functions have no names";
    return found;
  }
  const auto* layout = std::ranges::find(kLayouts, *version, &Layout::version);
  if (layout == std::end(kLayouts)) {
    found.why = "its functions have no names; those of 7.4 to 8.5 have";
    return found;
  }
  ft_php build{};
  ASSIGN_OR_RETURN(found.why, Place(file, symbols, *layout, build));
  if (found.why.empty()) found.build = build;
  return found;
}

}  // namespace firetower::daemon
