// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>
#include <vector>

#include "symbolizer/dwarf/dwarf_frames.h"

// A whole file; the first byte chooses where in it to look.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  if (size == 0) return 0;
  std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  symbolizer::dwarf::UnitCache cache(1 << 20);
  symbolizer::dwarf::DwarfLimits limits;
  limits.max_unpacked_bytes = 1 << 20;
  limits.max_rows = 1 << 16;
  auto frames = symbolizer::DwarfFrames::Open(std::make_unique<symbolizer::MemorySource>(file),
                                              cache, limits);
  if (!frames) return 0;
  std::vector<symbolizer::SourceFrame> found;
  for (uint64_t address = data[0]; address < 0x2000; address += 61) {
    found.clear();
    (*frames)->Find(address, found);
    if (!found.empty() && !(*frames)->IsReady(address)) std::abort();
    for (const symbolizer::SourceFrame& frame : found) {
      if (frame.name.size() > symbolizer::dwarf::Section::kMaxTextBytes) std::abort();
    }
  }
  return 0;
}
