// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "symbolizer/symbol_table.h"

// Any bytes as an object file: loads or fails, and every lookup stays inside the table.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  symbolizer::LoadLimits limits;
  limits.max_debugdata_bytes = 1 << 20;
  symbolizer::MemorySource source({reinterpret_cast<const std::byte*>(data), size});
  auto table = symbolizer::LoadElfSymbols(source, limits);
  if (!table) return 0;
  for (uint64_t offset = 0; offset < size; offset += 1 + size / 256) {
    auto symbol = (*table)->Find(offset);
    if (symbol && symbol->name.empty()) std::abort();
    (*table)->FindVaddr(offset);
  }
  if ((*table)->bytes() < sizeof(symbolizer::SymbolTable)) std::abort();
  return 0;
}
