// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/perl/perl_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <vector>

#include "daemon/runtimes/elf_values.h"
#include "daemon/runtimes/loop_code.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfFile;
using symbolizer::FdeRange;

enum Name : size_t { kLoop, kRevision, kVersion, kKey, kRun, kTry, kNames };
constexpr std::array<std::string_view, kNames> kSymbols = {
    "Perl_runops_standard", "PL_revision", "PL_version",
    "PL_thr_key",           "perl_run",    "Perl_pp_entertry"};
using Symbols = std::array<symbolizer::FoundSymbol, kNames>;

// Offsets and numbers that differ, as each version's own headers have them (intrpvar.h, opnames.h):
// tried with those of 5.32, 5.36, 5.40 and 5.42. Those of 5.34 lie between two that are alike, and
// so do 5.38's but for the number of its operation.
struct Layout {
  uint16_t version;  // major * 100 + minor
  uint16_t statement, stack;
  uint16_t next_state;
  uint16_t name_apart;
};
constexpr Layout kLayouts[] = {
    {532, 224, 240, 195, 1}, {534, 208, 224, 195, 1}, {536, 208, 224, 195, 0},
    {538, 208, 224, 0, 0},   {540, 208, 224, 198, 0}, {542, 208, 224, 202, 0},
};

constexpr std::byte kCall{0xe8}, kJump{0xe9};

// Finds the function that code at `begin` first jumps to, or calls where it `may_call`; 0: none.
uint64_t TargetOf(const std::vector<FdeRange>& functions, std::span<const std::byte> code,
                  uint64_t begin, bool may_call) {
  for (size_t i = 0; i + 5 <= code.size(); ++i) {
    if (code[i] != kJump && !(may_call && code[i] == kCall)) continue;
    const uint64_t target = TargetAt(code, i + 1, begin);
    const FdeRange* function = FunctionAt(functions, target);
    if (target - begin >= code.size() && function != nullptr && function->begin_elf_vaddr == target)
      return target;
  }
  return 0;
}

// Finds the function to which most others name themselves as they call it: `eval`, `require` and
// `try` do so to docatch(), three or four of them. 0: there is none.
Result<uint64_t> FindByCallers(const ElfFile& file, const std::vector<FdeRange>& functions) {
  constexpr uint32_t kLargest = 64u << 10;
  constexpr size_t kNearby = 24;
  constexpr int kFewest = 3;
  std::map<uint64_t, int> named;
  std::vector<std::byte> code;
  for (const FdeRange& function : functions) {
    if (function.bytes > kLargest) continue;
    code.resize(function.bytes);
    if (!ReadElfAt(file, function.begin_elf_vaddr, code)) continue;
    for (size_t i = 0; i + 7 <= code.size(); ++i) {
      // lea function(%rip), %rsi
      if (code[i] != std::byte{0x48} || code[i + 1] != std::byte{0x8d} ||
          code[i + 2] != std::byte{0x35} ||
          TargetAt(code, i + 3, function.begin_elf_vaddr) != function.begin_elf_vaddr)
        continue;
      const std::span<const std::byte> behind =
          std::span(code).subspan(i + 7, std::min(kNearby, code.size() - i - 7));
      if (const uint64_t target =
              TargetOf(functions, behind, function.begin_elf_vaddr + i + 7, true))
        ++named[target];
    }
  }
  const auto most =
      std::ranges::max_element(named, {}, [](const auto& entry) { return entry.second; });
  return most != named.end() && most->second >= kFewest ? most->first : uint64_t{0};
}

// Finds docatch() (pp_ctl.c), which has no symbol. Null: it was not found.
Result<const FdeRange*> FindCatcher(const ElfFile& file, const Symbols& symbols,
                                    const std::vector<FdeRange>& functions) {
  uint64_t target = 0;
  // To 5.36 what does nothing else but create a scope or jump there is exported.
  if (const FdeRange* tries = FunctionAt(functions, symbols[kTry].value);
      tries != nullptr && symbols[kTry].value != 0 && tries->bytes < 512) {
    std::vector<std::byte> code(tries->bytes);
    RETURN_IF_ERROR(ReadElfAt(file, tries->begin_elf_vaddr, code));
    target = TargetOf(functions, code, tries->begin_elf_vaddr, false);
  }
  if (target == 0) {
    ASSIGN_OR_RETURN(target, FindByCallers(file, functions));
  }
  return target == 0 ? nullptr : FunctionAt(functions, target);
}

// Fills in where the build's parts lie. Returns why that is not known, or nothing.
Result<std::string> Place(const ElfFile& file, const Symbols& symbols, ft_perl& build) {
  constexpr uint64_t kLargestLoop = 64u << 10;
  if (symbols[kLoop].size == 0 || symbols[kLoop].size > kLargestLoop)
    return std::string("it does not say how large its loop is");
  if (symbols[kRun].value == 0) return std::string("it does not export what runs a script");
  ASSIGN_OR_RETURN(const std::optional<uint64_t> bias, CodeBias(file));
  if (!bias) return std::string("its code is in segments with different offsets");
  ASSIGN_OR_RETURN(const std::vector<FdeRange> functions, FindFunctionRanges(file));
  ASSIGN_OR_RETURN(const FdeRange* catcher, FindCatcher(file, symbols, functions));
  if (catcher == nullptr) return std::string("what runs its `eval` was not found");
  build.key = static_cast<int64_t>(symbols[kKey].value - *bias);
  build.loop = static_cast<int64_t>(symbols[kLoop].value - *bias);
  build.loop_bytes = static_cast<uint32_t>(symbols[kLoop].size);
  build.run = static_cast<int64_t>(symbols[kRun].value - *bias);
  build.run_bytes = static_cast<uint32_t>(symbols[kRun].size);
  build.core = static_cast<int64_t>(catcher->begin_elf_vaddr - *bias);
  build.core_bytes = catcher->bytes;
  return std::string();
}

}  // namespace

Result<FoundPerl> FindPerl(const ElfFile& file) {
  const auto symbols_found = symbolizer::FindSymbols(file, SHT_DYNSYM, kSymbols);
  if (!symbols_found) {
    if (symbols_found.error().code() == ErrorCode::kNotFound) return FoundPerl{};
    return symbols_found.error();
  }
  Symbols symbols{};
  for (const symbolizer::FoundSymbol& symbol : *symbols_found) symbols[symbol.name] = symbol;
  // Extensions only refer to them.
  if (symbols[kLoop].value == 0 || symbols[kRevision].value == 0 || symbols[kVersion].value == 0)
    return FoundPerl{};
  ASSIGN_OR_RETURN(const auto revision, ReadElfValue<uint8_t>(file, symbols[kRevision].value));
  ASSIGN_OR_RETURN(const auto minor, ReadElfValue<uint8_t>(file, symbols[kVersion].value));
  FoundPerl found;
  found.version = fmt::format("{}.{}", revision, minor);
  const auto* layout = std::ranges::find(kLayouts, revision * 100 + minor, &Layout::version);
  if (layout == std::end(kLayouts)) {
    found.why = "its subroutines have no names; those of 5.32 to 5.42 have";
    return found;
  }
  if (symbols[kKey].value == 0) {
    found.why = "built without ithreads: its subroutines have no names";
    return found;
  }
  ft_perl build{};
  build.runtime_kind = FT_RUNTIME_PERL;
  build.version = layout->version;
  build.statement = layout->statement;
  build.stack = layout->stack;
  build.next_state = layout->next_state;
  build.name_apart = layout->name_apart;
  ASSIGN_OR_RETURN(found.why, Place(file, symbols, build));
  if (found.why.empty()) found.build = build;
  return found;
}

}  // namespace firetower::daemon
