// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include "symbolizer/perfmap/perf_map.h"
#include "symbolizer/perfmap/perf_map_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto map = symbolizer::PerfMap::Parse(text);
  for (uint64_t address = 0; address < 0x10000; address += 0x71) {
    auto symbol = map.Find(address);
    if (symbol && symbol->offset > address) std::abort();
  }
  map.Find(UINT64_MAX);
  auto pid = symbolizer::InnermostPid(text);
  if (pid && *pid <= 0) std::abort();
  [[maybe_unused]] auto start_ticks = symbolizer::StartTicks(text);
  return 0;
}
