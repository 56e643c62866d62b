// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/ruby/ruby_function.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "bpf/abi/unwind.h"
#include "daemon/runtimes/function_table.h"
#include "tests/unit/daemon/runtimes/function_records.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::RecordOf;
using ::firetower::testing::SetText;

ft_function Ruby(std::string_view label, std::string_view file) {
  ft_function function{};
  function.kind = FT_KIND_FUNCTION;
  function.runtime = FT_RUNTIME_RUBY;
  function.minor = 303;
  function.first_line = 12;
  function.epoch = 1;
  SetText(function.name, label, label.size(), 0);
  SetText(function.file, file, file.size(), 0);
  return function;
}

// The table of a method of `positions` instructions, in which a new line begins at each of
// `begins`, counted from 100 on. It is made the way succ_index_table_create() of iseq.c makes it:
// ranks count what begins at a position or before.
std::string TableOf(uint32_t positions, const std::vector<uint32_t>& begins, size_t entry_bytes) {
  const auto rank_at = [&](uint32_t position) {
    uint64_t rank = 0;
    for (const uint32_t begin : begins) rank += begin <= position ? 1 : 0;
    return rank;
  };
  ft_ruby_lines table{};
  table.positions = positions;
  table.entries = static_cast<uint32_t>(begins.size());
  for (uint32_t i = 0; i < FT_RUBY_IMMEDIATE; ++i)
    table.immediate[i / 9] |= rank_at(i) << (i % 9 * 7);
  for (uint32_t b = 0; b < FT_RUBY_BLOCKS; ++b) {
    const uint32_t first = FT_RUBY_IMMEDIATE + b * 512;
    table.block[b][0] = rank_at(first - 1);
    for (uint32_t word = 0; word < 8; ++word) {
      for (uint32_t bit = 0; bit < 64; ++bit) {
        for (const uint32_t begin : begins) {
          if (begin == first + word * 64 + bit) table.block[b][2 + word] |= uint64_t{1} << bit;
        }
      }
      if (word < 7)
        table.block[b][1] |= (rank_at(first + word * 64 + 63) - table.block[b][0]) << (word * 9);
    }
  }
  std::string bytes(reinterpret_cast<const char*>(&table), sizeof(table));
  for (uint32_t i = 0; i < begins.size(); ++i) {
    std::string entry(entry_bytes, '\0');
    const uint32_t line = 100 + i;
    std::memcpy(entry.data(), &line, sizeof(line));
    bytes += entry;
  }
  return bytes;
}

TEST(LineOfRuby, FindsTheEntryOfAnInstruction) {
  const std::vector<uint32_t> begins = {0, 3, 9, 53, 54, 55, 117, 118, 300, 565, 566, 700, 2000};
  for (const auto& [version, entry_bytes] : {std::pair(207, 8), {300, 8}, {301, 12}, {304, 12}}) {
    const std::string table = TableOf(2100, begins, static_cast<size_t>(entry_bytes));
    for (uint32_t position = 0; position < 2100; ++position) {
      uint32_t line = 99;
      for (const uint32_t begin : begins) line += begin <= position ? 1 : 0;
      ASSERT_EQ(LineOfRuby(static_cast<uint16_t>(version), table, 1, position), line)
          << version << " " << position;
    }
  }
}

TEST(LineOfRuby, GivesTheMethodsOwnLineWhereTheTableEnds) {
  const std::string table = TableOf(60, {0, 30}, 12);
  EXPECT_EQ(LineOfRuby(303, table, 7, 60), 7u) << "no instruction of it";
  EXPECT_EQ(LineOfRuby(303, table.substr(0, table.size() - 1), 7, 40), 7u);
  EXPECT_EQ(LineOfRuby(303, table.substr(0, sizeof(ft_ruby_lines) - 1), 7, 0), 7u);
  EXPECT_EQ(LineOfRuby(303, "", 7, 0), 7u);
}

TEST(LineOfRuby, NeedsNoIndexForOneEntry) {
  std::string table = TableOf(60, {0}, 12);
  std::memset(table.data() + 8, 0, sizeof(ft_ruby_lines) - 8);
  EXPECT_EQ(LineOfRuby(303, table, 7, 30), 100u);
}

TEST(ReadRubyRecord, KeepsLabelFileAndLine) {
  const auto read = ReadRubyRecord(RecordOf(Ruby("block in total", "/srv/cart.rb"), ""));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->function, (RuntimeFunction{"block in total", "/srv/cart.rb", 12}));
  EXPECT_EQ(read->minor, 303);
}

TEST(ReadRubyRecord, RefusesWhatIsNoMethod) {
  const auto record = RecordOf(Ruby("total", "/srv/cart.rb"), "lines");
  for (size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(ReadRubyRecord(std::span(record).first(size))) << size;
  EXPECT_TRUE(ReadRubyRecord(record));
  EXPECT_FALSE(ReadRubyRecord(RecordOf(Ruby("", "/srv/cart.rb"), "")));
}

TEST(ReadRubyRecord, IsFoundByTheFunctionTable) {
  FunctionTable table;
  ft_function function = Ruby("total", "/srv/cart.rb");
  function.tgid = 7;
  function.code = 0x1000;
  function.cookie = 5;
  ASSERT_TRUE(table.Add(RecordOf(function, TableOf(60, {0, 30}, 12))));
  const FunctionTable::Place place =
      table.Find(7, ft_identity(0, 0), FT_WORD_RUBY_FRAME | 0x1000, uint64_t{5} << 32 | 31);
  EXPECT_EQ(place.function, 1u);
  EXPECT_EQ(place.line, 101u);
}

}  // namespace
}  // namespace firetower::daemon
