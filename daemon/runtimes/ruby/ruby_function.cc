// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/ruby/ruby_function.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "daemon/runtimes/byte_text.h"

namespace firetower::daemon {
namespace {

// Counts the entries that begin at a position or before it: succ_index_lookup() of iseq.c.
uint32_t RankOf(const ft_ruby_lines& lines, uint32_t position) {
  if (position < FT_RUBY_IMMEDIATE)
    return static_cast<uint32_t>(lines.immediate[position / 9] >> (position % 9 * 7) & 0x7f);
  const uint32_t behind = position - FT_RUBY_IMMEDIATE;
  if (behind / 512 >= FT_RUBY_BLOCKS) return 0;
  const auto& block = lines.block[behind / 512];
  const uint32_t word = behind % 512 / 64;
  const uint64_t before = word == 0 ? 0 : block[1] >> ((word - 1) * 9) & 0x1ff;
  const int in_word = std::popcount(block[2 + word] << (63 - behind % 64));
  return static_cast<uint32_t>(block[0]) + static_cast<uint32_t>(before) +
         static_cast<uint32_t>(in_word);
}

}  // namespace

Result<ReadFunction> ReadRubyRecord(std::span<const std::byte> record) {
  ft_function from;
  RETURN_IF_ERROR(ReadRecordHead(record, from));
  ReadFunction read;
  read.minor = std::max(from.minor, kFirstRuby);
  read.function.name = TextOfBytes(from.name);
  read.function.file = TextOfBytes(from.file);
  read.function.first_line = from.first_line;
  read.lines = LinesOf(record, from);
  if (read.function.name.empty())
    return Error(ErrorCode::kCorrupt, "a function's record has no name");
  return read;
}

uint32_t LineOfRuby(uint16_t version, std::string_view lines, uint32_t first_line,
                    uint32_t position) {
  ft_ruby_lines table;
  if (lines.size() < sizeof(table)) return first_line;
  std::memcpy(&table, lines.data(), sizeof(table));
  if (position >= table.positions) return first_line;
  // {line, events}, with the number of a node between them from 3.1 on.
  const size_t entry_bytes = version >= 301 ? 12 : 8;
  const uint32_t rank = table.entries == 1 ? 1 : RankOf(table, position);
  const size_t at = sizeof(table) + size_t{rank - 1} * entry_bytes;
  if (rank == 0 || rank > table.entries || at + entry_bytes > lines.size()) return first_line;
  int32_t line = 0;
  std::memcpy(&line, lines.data() + at, sizeof(line));
  return line > 0 ? static_cast<uint32_t>(line) : first_line;
}

}  // namespace firetower::daemon
