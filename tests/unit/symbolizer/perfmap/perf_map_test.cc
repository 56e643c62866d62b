// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "symbolizer/perfmap/perf_map_builder.h"

namespace firetower::symbolizer {
namespace {

std::string At(const PerfMap& map, uint64_t abs_addr) {
  auto symbol = map.Find(abs_addr);
  return symbol ? std::string(symbol->name) + "+" + std::to_string(symbol->offset) : "-";
}

TEST(PerfMap, NamesWithBlanksAndHexWithAndWithoutPrefix) {
  PerfMap map = PerfMap::Parse(
      "7f0000001000 20 LazyCompile:*foo /app/x.js:12\n"
      "0x7f0000002000 0x10 Builtin:Add\r\n");
  EXPECT_EQ(At(map, 0x7f0000001000), "LazyCompile:*foo /app/x.js:12+0");
  EXPECT_EQ(At(map, 0x7f000000101f), "LazyCompile:*foo /app/x.js:12+31");
  EXPECT_EQ(At(map, 0x7f0000001020), "-");
  EXPECT_EQ(At(map, 0x7f0000000fff), "-");
  EXPECT_EQ(At(map, 0x7f0000002001), "Builtin:Add+1");
  EXPECT_EQ(map.dropped_lines(), 0u);
}

TEST(PerfMapBuilder, ReadsTheSameHoweverTheTextIsCut) {
  const std::string text = "1000 10 one\r\n2000 20 two\nnonsense\n\n3000 30 " +
                           std::string(3000, 'n') + "\n4000 40 four\n5000 50 unfinished";
  const PerfMap whole = PerfMap::Parse(text);
  EXPECT_EQ(whole.range_count(), 4u);
  EXPECT_EQ(At(whole, 0x3000), std::string(PerfMap::kMaxNameBytes, 'n') + "+0");
  for (size_t step : {1u, 2u, 3u, 7u, 64u, 1000u}) {
    PerfMapBuilder builder;
    for (size_t at = 0; at < text.size(); at += step) {
      EXPECT_TRUE(builder.AddText(std::string_view(text).substr(at, step)));
    }
    PerfMap map = std::move(builder).Finish();
    EXPECT_EQ(map.range_count(), whole.range_count()) << step;
    EXPECT_EQ(map.dropped_lines(), whole.dropped_lines()) << step;
    for (uint64_t address : {0x1000u, 0x201fu, 0x3001u, 0x4000u, 0x5000u}) {
      EXPECT_EQ(At(map, address), At(whole, address)) << step;
    }
  }
}

TEST(PerfMapBuilder, WantsNoMoreAfterZerosOrNonsense) {
  PerfMapBuilder zeros;
  EXPECT_TRUE(zeros.AddText("1000 10 one\n"));
  EXPECT_FALSE(zeros.AddText(std::string(10, '\0')));
  EXPECT_FALSE(zeros.AddText("2000 10 two\n"));
  EXPECT_EQ(std::move(zeros).Finish().range_count(), 1u);
  PerfMapBuilder nonsense;
  EXPECT_FALSE(nonsense.AddText(std::string(PerfMap::kMaxDroppedLines + 1, '\n')));
}

TEST(PerfMap, ALaterLineOverridesWhereItOverlaps) {
  PerfMap map = PerfMap::Parse("1000 100 old\n1040 20 new\n1000 10 newest\n");
  EXPECT_EQ(At(map, 0x1005), "newest+5");
  EXPECT_EQ(At(map, 0x1010), "old+16");
  EXPECT_EQ(At(map, 0x1040), "new+0");
  EXPECT_EQ(At(map, 0x105f), "new+31");
  EXPECT_EQ(At(map, 0x1060), "old+96");
  EXPECT_EQ(At(map, 0x1100), "-");
}

TEST(PerfMap, AgreesWithPaintingByteByByte) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    std::map<uint64_t, std::string> painted;
    for (int line = 0; line < 30; ++line) {
      uint64_t start = 0x1000 + random() % 200;
      uint64_t size = 1 + random() % 60;
      std::string name = "f" + std::to_string(line);
      char buffer[64];
      std::snprintf(buffer, sizeof(buffer), "%zx %zx %s\n", start, size, name.c_str());
      text += buffer;
      for (uint64_t i = 0; i < size; ++i) painted[start + i] = name + "+" + std::to_string(i);
    }
    PerfMap map = PerfMap::Parse(text);
    for (uint64_t address = 0x0fff; address < 0x1140; ++address) {
      auto expected = painted.find(address);
      ASSERT_EQ(At(map, address), expected == painted.end() ? "-" : expected->second);
    }
  }
}

TEST(PerfMap, CountsAndSkipsLinesThatMakeNoSense) {
  PerfMap map = PerfMap::Parse(
      "\n# comment\n1000\n1000 10\n1000 10 \nxyz 10 a\n1000 zz a\n1000 0 empty\n"
      "ffffffffffffffff 10 wraps\n1000 ffffffffff huge\n-1000 10 negative\n"
      "11112222333344445 10 a\n2000 10 good\n");
  EXPECT_EQ(map.dropped_lines(), 12u);
  EXPECT_EQ(map.range_count(), 1u);
  EXPECT_EQ(At(map, 0x2000), "good+0");
}

TEST(PerfMap, LeavesALineThatIsStillBeingWritten) {
  EXPECT_EQ(PerfMap::Parse("1000 10 whole\n2000 10 hal").range_count(), 1u);
}

TEST(PerfMap, EveryPrefixParses) {
  const std::string text = "7f0000001000 20 a b c\n0x1000 0x10 d\n1008 4 e\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    PerfMap map = PerfMap::Parse(text.substr(0, length));
    EXPECT_LE(map.range_count(), 4u);
    EXPECT_EQ(map.dropped_lines(), 0u);
  }
}

TEST(PerfMap, HoldsItsBounds) {
  std::string long_name(5000, 'x');
  PerfMap map = PerfMap::Parse("1000 10 " + long_name + "\n");
  EXPECT_EQ(map.Find(0x1000)->name.size(), PerfMap::kMaxNameBytes);

  std::string text;
  for (size_t i = 0; i < PerfMap::kMaxEntries + 5; ++i) text += "1000 10 f\n";
  map = PerfMap::Parse(text);
  EXPECT_EQ(map.dropped_lines(), 5u);
  EXPECT_EQ(map.range_count(), 1u);

  text.clear();
  for (size_t i = 0; i < 20'000; ++i) {
    text += "1000 10 " + std::to_string(i) + std::string(1000, 'y') + "\n";
  }
  map = PerfMap::Parse(text);
  EXPECT_GT(map.dropped_lines(), 3000u);
  EXPECT_LT(map.bytes(), PerfMap::kMaxNamesBytes + 4096);
}

TEST(PerfMap, NestedLinesCostNoMoreThanSorting) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {  // each inside the one before: 100,000 open at once
    char buffer[64];
    std::snprintf(buffer, sizeof(buffer), "%x %x f\n", 0x1000 + i, 0x800000 - 2 * i);
    text += buffer;
  }
  EXPECT_EQ(PerfMap::Parse(text).range_count(), 199'999u);
}

}  // namespace
}  // namespace firetower::symbolizer
