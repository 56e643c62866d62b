// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations/allocator.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

struct Known {
  std::string_view name;
  SizeAt size;
};

// Every allocator that is found has one of these.
constexpr Known kMalloc = {"malloc", SizeAt::kMalloc};
constexpr Known kFamily[] = {{"calloc", SizeAt::kProduct},
                             {"realloc", SizeAt::kSecond},
                             {"reallocarray", SizeAt::kLastProduct},
                             {"memalign", SizeAt::kSecond},
                             {"aligned_alloc", SizeAt::kSecond},
                             {"posix_memalign", SizeAt::kThird},
                             {"valloc", SizeAt::kFirst},
                             {"pvalloc", SizeAt::kFirst},
                             // jemalloc
                             {"mallocx", SizeAt::kFirst},
                             {"rallocx", SizeAt::kSecond},
                             // mimalloc
                             {"zalloc", SizeAt::kFirst},
                             {"malloc_aligned", SizeAt::kFirst},
                             {"zalloc_aligned", SizeAt::kFirst},
                             {"realloc_aligned", SizeAt::kSecond},
                             {"free", SizeAt::kNone},
                             {"cfree", SizeAt::kNone},
                             // C23
                             {"free_sized", SizeAt::kNone},
                             {"free_aligned_sized", SizeAt::kNone},
                             // jemalloc
                             {"dallocx", SizeAt::kNone},
                             {"sdallocx", SizeAt::kNone},
                             // mimalloc
                             {"free_size", SizeAt::kNone},
                             {"free_aligned", SizeAt::kNone},
                             {"free_size_aligned", SizeAt::kNone}};
// Programs that have an allocator linked into them call it so. `zalloc` alone is no allocator's.
constexpr std::string_view kPrefixes[] = {"", "je_", "_rjem_", "mi_", "tc_"};
// Itanium C++ ABI, 5.1.3: new and new[], with nothrow_t, with align_val_t, with both.
constexpr std::string_view kOperators[] = {"_Znwm",
                                           "_Znam",
                                           "_ZnwmRKSt9nothrow_t",
                                           "_ZnamRKSt9nothrow_t",
                                           "_ZnwmSt11align_val_t",
                                           "_ZnamSt11align_val_t",
                                           "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                           "_ZnamSt11align_val_tRKSt9nothrow_t"};
// The same of delete and delete[], also with a size.
constexpr std::string_view kDeletes[] = {"_ZdlPv",
                                         "_ZdaPv",
                                         "_ZdlPvm",
                                         "_ZdaPvm",
                                         "_ZdlPvRKSt9nothrow_t",
                                         "_ZdaPvRKSt9nothrow_t",
                                         "_ZdlPvSt11align_val_t",
                                         "_ZdaPvSt11align_val_t",
                                         "_ZdlPvmSt11align_val_t",
                                         "_ZdaPvmSt11align_val_t",
                                         "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                         "_ZdaPvSt11align_val_tRKSt9nothrow_t"};

struct Names {
  std::vector<std::string> text;
  std::vector<SizeAt> sizes;
  std::vector<std::string_view> views;
  size_t mallocs = 0;  // the first ones
};

const Names& AllNames() {
  static const Names names = [] {
    Names all;
    const auto add = [&](std::string name, SizeAt size) {
      all.text.push_back(std::move(name));
      all.sizes.push_back(size);
    };
    for (const std::string_view prefix : kPrefixes)
      add(std::string(prefix) + std::string(kMalloc.name), kMalloc.size);
    all.mallocs = all.text.size();
    for (const std::string_view prefix : kPrefixes) {
      for (const Known& known : kFamily) {
        if (!prefix.empty() || known.name != "zalloc")
          add(std::string(prefix) + std::string(known.name), known.size);
      }
    }
    for (const std::string_view name : kOperators) add(std::string(name), SizeAt::kFirst);
    for (const std::string_view name : kDeletes) add(std::string(name), SizeAt::kNone);
    all.views.assign(all.text.begin(), all.text.end());
    return all;
  }();
  return names;
}

}  // namespace

Result<std::vector<AllocatorFunction>> FindAllocator(const symbolizer::RandomAccess& source) {
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  const Names& names = AllNames();
  std::vector<AllocatorFunction> functions;
  bool is_allocator = false;
  for (const uint32_t table : {uint32_t{SHT_DYNSYM}, uint32_t{SHT_SYMTAB}}) {
    const auto found = symbolizer::FindFunctions(file, table, names.views);
    if (!found && found.error().code() == ErrorCode::kNotFound) continue;
    if (!found) return found.error();
    for (const symbolizer::FoundFunction& function : *found) {
      is_allocator |= function.name < names.mallocs;
      // One function has several names, and those of the dynamic table come again.
      const bool known = std::ranges::any_of(functions, [&](const AllocatorFunction& other) {
        return other.file_offset == function.file_offset;
      });
      if (!known) functions.push_back({names.sizes[function.name], function.file_offset});
    }
    // A library's own table has no function that others call beyond those.
    if (is_allocator) break;
  }
  if (!is_allocator) functions.clear();
  return functions;
}

}  // namespace firetower::daemon
