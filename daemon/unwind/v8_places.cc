// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/v8_places.h"

#include <algorithm>
#include <span>

namespace firetower::daemon {
namespace {

// Releases have 1.3 to 2.2 MB of built-in functions.
constexpr uint64_t kMinBuiltins = 256u << 10;

// V8 reserves 128 MiB for what it compiles, later 512 MiB, and uses it from some place on. What
// lies further apart is another reservation.
constexpr uint64_t kReservation = 512u << 20;
constexpr uint64_t kGrowth = 128u << 20;

// The reservation of the dispatch table (js-dispatch-table.h), and how many of its entries are
// looked at for ones that are in use.
constexpr uint64_t kDispatchTable = 256u << 20;
constexpr uint64_t kDispatchSegment = 64u << 10;  // of which the first has other rights
constexpr size_t kDispatchEntries = 8192;
constexpr int kEntriesInUse = 8;

struct DispatchEntry {
  uint64_t start = 0;
  uint64_t code = 0;
};
static_assert(sizeof(DispatchEntry) == FT_V8_DISPATCH_BYTES);

// Counts entries in use from an address on, up to kEntriesInUse: those that point to code which
// points back.
int CountEntries(uint64_t address, size_t most, const V8Heap& heap, const V8Build& build,
                 const ft_v8& walk) {
  std::vector<DispatchEntry> entries(most);
  // Memory behind the part in use cannot be read: then a smaller part is enough.
  while (!heap.Read(address, std::as_writable_bytes(std::span(entries)))) {
    if (entries.size() <= 256) return 0;
    entries.resize(entries.size() / 2);
  }
  int in_use = 0;
  for (const DispatchEntry& entry : entries) {
    const auto code = ObjectOf(ft_v8_dispatched(entry.code));
    // Looks at entries into V8's code only: other memory holds chance values.
    const bool in_code = entry.start - walk.at.builtins < walk.at.builtins_bytes ||
                         entry.start - walk.at.low < walk.at.bytes;
    if (!in_code || !code || heap.TypeOf(*code) != build.code_type) continue;
    const auto head = ReadCodeHead(heap, build, *code);
    if (head && head->start == entry.start && ++in_use >= kEntriesInUse) break;
  }
  return in_use;
}

// Tells whether a table begins there, and not a segment of it before.
bool IsDispatchTable(uint64_t address, const V8Heap& heap, const V8Build& build,
                     const ft_v8& walk) {
  return CountEntries(address, kDispatchEntries, heap, build, walk) >= kEntriesInUse &&
         CountEntries(address - kDispatchSegment, kDispatchSegment / sizeof(DispatchEntry), heap,
                      build, walk) == 0;
}

struct Range {
  uint64_t low = 0;
  uint64_t high = 0;

  bool empty() const { return low == high; }
  Range With(uint64_t begin, uint64_t end) const {
    return empty() ? Range{begin, end} : Range{std::min(low, begin), std::max(high, end)};
  }
};

}  // namespace

void FindBuiltins(const symbolizer::ElfFile& file, const PackedTable& table, V8Build& build) {
  const Elf64_Shdr* text = file.FindSection(".text");
  if (text == nullptr) return;
  const uint64_t begin = text->sh_offset, end = begin + text->sh_size;
  uint64_t gap = 0, best = 0, best_bytes = 0;
  bool open = false;
  const auto close = [&](uint64_t at) {
    const uint64_t from = std::max(gap, begin), to = std::min(at, end);
    if (open && to > from && to - from > best_bytes) {
      best = from;
      best_bytes = to - from;
    }
    open = false;
  };
  for (size_t block = 0; block + 1 < table.blocks.size(); ++block) {
    const uint64_t at = (table.first_block + block) << FT_BLOCK_SHIFT;
    for (uint32_t row = table.blocks[block]; row < table.blocks[block + 1]; ++row) {
      const uint64_t offset = at + FT_ROW_OFFSET(table.rows[row]);
      if (table.rules[FT_ROW_RULE(table.rows[row])].cfa != FT_CFA_NONE) {
        close(offset);
      } else if (!open) {
        open = true;
        gap = offset;
      }
    }
  }
  close(end);
  if (best_bytes < kMinBuiltins) return;
  build.builtins_offset = best;
  build.builtins_bytes = best_bytes;
}

ft_v8 PlaceV8(const std::vector<ProcessMapping>& mappings, uint32_t library, const V8Build& build) {
  ft_v8 walk{};
  walk.at.kind = FT_MACHINE_V8;
  walk.at.module = library;
  walk.function_shared = build.function_shared;
  walk.shared_name = build.shared_name;
  walk.shared_script = build.shared_script;
  if (!build.has_dispatch_table()) walk.function_code = build.function_code;
  walk.function_feedback = build.function_feedback;
  for (const ProcessMapping& mapping : mappings) {
    if (mapping.module != library) continue;
    const uint64_t bytes = mapping.end - mapping.start;
    const uint64_t from = std::max(build.builtins_offset, mapping.file_offset);
    const uint64_t to =
        std::min(build.builtins_offset + build.builtins_bytes, mapping.file_offset + bytes);
    if (from >= to) continue;
    const bool copy = walk.at.builtins_bytes != 0;
    (copy ? walk.copied : walk.at.builtins) = mapping.start + (from - mapping.file_offset);
    (copy ? walk.copied_bytes : walk.at.builtins_bytes) = to - from;
  }
  Range code{walk.copied, walk.copied + walk.copied_bytes};
  for (const ProcessMapping& mapping : mappings) {
    if (mapping.module != ModuleRegistry::kJit) continue;
    const Range with = code.With(mapping.start, mapping.end);
    if (with.high - with.low <= kReservation) code = with;
  }
  if (code.empty()) return walk;
  // It is used from the low end on: the next code is known before the kernel tells of it.
  uint64_t most = std::max(code.high, code.low + kGrowth);
  for (const ProcessMapping& mapping : mappings) {
    if (mapping.start >= code.high) most = std::min(most, mapping.start);
  }
  walk.at.low = code.low;
  walk.at.bytes = most - code.low;
  return walk;
}

std::optional<uint64_t> FindDispatchTable(const std::vector<MapsLine>& maps, const V8Heap& heap,
                                          const V8Build& build, const ft_v8& walk) {
  for (size_t first = 0; first < maps.size(); ++first) {
    if (!maps[first].path.empty()) continue;
    size_t last = first;
    while (last + 1 < maps.size() && maps[last + 1].start == maps[last].end &&
           maps[last + 1].path.empty() && maps[last].end - maps[first].start <= kDispatchTable)
      ++last;
    // Neighbours' mappings may have been joined to its first part and its last.
    for (const uint64_t table : {maps[first].start, maps[first].start - kDispatchSegment}) {
      if (maps[last].end < table + kDispatchTable) continue;
      if (IsDispatchTable(table, heap, build, walk)) return table;
    }
  }
  return std::nullopt;
}

}  // namespace firetower::daemon
