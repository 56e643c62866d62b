// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "symbolizer/elf/symbols/function_finder.h"

// Any bytes as an object file: its functions are found or it fails, and what is found lies in it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  symbolizer::MemorySource source({reinterpret_cast<const std::byte*>(data), size});
  const auto file = symbolizer::ElfFile::Open(source);
  if (!file) return 0;
  constexpr std::string_view kNames[] = {"main", "malloc", "_start", "a"};
  for (const uint32_t table : {uint32_t{SHT_DYNSYM}, uint32_t{SHT_SYMTAB}}) {
    const auto functions = symbolizer::FindFunctions(*file, table, kNames);
    if (!functions) continue;
    for (const symbolizer::FoundFunction& function : *functions) {
      if (function.name >= std::size(kNames)) std::abort();
    }
  }
  return 0;
}
