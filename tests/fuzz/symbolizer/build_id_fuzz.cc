// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "symbolizer/elf/build_id.h"

// The first byte chooses the alignment, or that the rest is a whole file instead of notes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  if (size == 0) return 0;
  std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  std::string id;
  if (data[0] == 'F') {
    id = symbolizer::ReadBuildId(symbolizer::MemorySource(rest)).value_or("");
  } else {
    id = symbolizer::FindBuildIdNote(rest, data[0] == '8' ? 8 : 4).value_or("");
  }
  if (id.size() % 2 != 0 || id.size() > 2 * symbolizer::kMaxBuildIdBytes) std::abort();
  return 0;
}
