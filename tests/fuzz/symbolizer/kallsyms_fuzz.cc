// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include "symbolizer/kernel/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto table = firetower::symbolizer::Kallsyms::Parse({reinterpret_cast<const char*>(data), size});
  if (!table) return 0;
  for (uint64_t base : {uint64_t{0}, uint64_t{0xffffffff81000000}, uint64_t{0xffffffffc0000000}}) {
    for (uint64_t step = 0; step < 0x10000; step += 0x101) {
      auto symbol = table->Find(base + step);
      if (symbol && symbol->name.empty()) std::abort();
    }
  }
  table->Find(UINT64_MAX);
  return 0;
}
