// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "daemon/process/process_table.h"

using firetower::daemon::InsertMapping;
using firetower::daemon::MapsLine;
using firetower::daemon::ModuleRegistry;
using firetower::daemon::ParseMaps;
using firetower::daemon::ProcessMapping;

// Any text as /proc/<pid>/maps: lines that are kept make sense, and the table that results from
// them in any order is sorted and without overlap.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<MapsLine> lines = ParseMaps(text);
  CHECK(lines.size() <= static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  std::vector<ProcessMapping> mappings;
  for (const MapsLine& line : lines) {
    CHECK(line.start < line.end);
    CHECK(line.path.size() <= size && line.path.find('\n') == std::string::npos);
    InsertMapping(mappings, {line.start, line.end, line.file_offset, ModuleRegistry::kJit});
    uint64_t last_end = 0;
    for (const ProcessMapping& mapping : mappings) {
      CHECK(mapping.start < mapping.end && mapping.start >= last_end);
      last_end = mapping.end;
    }
  }
  return 0;
}
