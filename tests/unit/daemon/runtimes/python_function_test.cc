// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/python_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/daemon/runtimes/function_records.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FunctionOf;
using ::firetower::testing::RecordOf;
using ::firetower::testing::SetText;
using ::testing::ElementsAreArray;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// A function with a condition, an expression over some lines, a comprehension and `finally`,
// compiled by each version: its table, and the line of each instruction by that version's own
// co_lines(), before 3.10 dis.findlinestarts(). 2 is the function's own line, which stands for
// "none" as well.
struct Compiled {
  std::string_view version;
  uint16_t minor = 0;
  std::string_view lines;
  std::vector<uint32_t> of;  // by code units
};

const Compiled kCompiled[] = {
    {"3.8",
     8,
     "000204010801040106ff0202020102ff02fe0204080102010c0202fe0a040201040102ff0a03020102ff0603",
     {4,  4,  5,  5,  5,  5,  6,  6,  7,  7,  7,  6,  8,  9,  8,  6,  10,
      10, 10, 10, 11, 12, 12, 12, 12, 12, 12, 14, 12, 12, 12, 12, 12, 16,
      17, 17, 18, 17, 17, 17, 17, 17, 20, 21, 20, 20, 20, 23, 23}},
    {"3.9",
     9,
     "000204010801040106ff0202020102ff02fe0204080102010c0202fe0a040201040102ff0803020102ff080102ff0"
     "603",
     {4,  4,  5,  5,  5,  5,  6,  6,  7,  7,  7,  6,  8,  9,  8,  6,  10, 10,
      10, 10, 11, 12, 12, 12, 12, 12, 12, 14, 12, 12, 12, 12, 12, 16, 17, 17,
      18, 17, 17, 17, 17, 20, 21, 20, 20, 20, 20, 21, 20, 20, 20, 23, 23}},
    {"3.10",
     10,
     "04020801040108010201020104ff080202010c0102020afe02040401020108ff0203020104ff040302fd020106ff",
     {4,  4,  5,  5,  5,  5,  6,  6,  7,  7,  7,  7,  8,  9,  8,  8,  10, 10,
      10, 10, 11, 12, 12, 12, 12, 12, 12, 14, 12, 12, 12, 12, 12, 16, 17, 17,
      18, 17, 17, 17, 17, 20, 21, 20, 20, 23, 23, 20, 21, 20, 20, 20}},
    {"3.11",
     11,
     "8000d80c0d8045dd0d12903189588c58f00008051cf00008051c8801d80b0c88718935f00007091c"
     "d80c11d81011d81213f103011114f103030d0e88458845f00a000d1295539811d8191af10301161c"
     "f40001161cf100010d1c88458845f004030515d80f2dd00f2d9d35a015993c9c3cd00f2dd10f2dd4"
     "0f2de0101488058805f890048805880c880c880c880c",
     {2,  3,  3,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  5,  5,  5,
      5,  5,  6,  7,  8,  7,  7,  6,  6,  6,  6,  11, 11, 11, 11, 11, 11, 11, 11, 12, 11, 11, 11,
      11, 11, 11, 11, 11, 11, 11, 11, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
      14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 16, 16, 16, 2,  16, 16, 16, 16, 16, 16}},
    {"3.12",
     12,
     "8000d80c0d8045dc0d1290318b58f20008051c8801d80b0c88718a35d80c11d81011d81213f10301"
     "1114f103030d0e8945f00a000d1294539811d8191af30301161cf100010d1c8945f00f08051cf012"
     "030515dc1b20a0159b3cd60f2d9061aa319201d20f2de010148905f9f20500102ef8e010148905fa",
     {2,  3,  3,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  5,  5,  5,  5,  5,  6,
      7,  8,  7,  7,  6,  6,  6,  6,  11, 11, 11, 11, 11, 11, 11, 12, 11, 11, 11, 11, 11, 11, 11,
      11, 4,  13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
      14, 14, 14, 14, 14, 14, 14, 16, 16, 16, 2,  2,  14, 14, 14, 2,  16, 16, 16, 2,  2,  2}},
    {"3.13",
     13,
     "8000d80c0d8045dc0d1290318e588801d80b0c88718f35d80c11d81011d81213f103011114f10303"
     "0d0e8a45f00a000d1294539811d8191af30301161cf100010d1c8a45f10f000e16f012030515dc1b"
     "20a0159c3cd30f2d993c9061ab319701993cd10f2de010148905f9f20500102ef8e010148905fa",
     {2,  3,  3,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  5,  5,  5,  5,  5,
      5,  5,  5,  5,  5,  6,  7,  8,  7,  7,  6,  6,  6,  6,  6,  11, 11, 11, 11, 11, 11, 11,
      12, 11, 11, 11, 11, 11, 11, 11, 11, 11, 4,  4,  13, 14, 14, 14, 14, 14, 14, 14, 14, 14,
      14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
      14, 14, 14, 16, 16, 16, 2,  2,  14, 14, 14, 2,  16, 16, 16, 2,  2,  2}},
};

// The position of the instruction in the n-th code unit, as that version's frames have it.
uint32_t PositionOf(const Compiled& compiled, size_t n) {
  return static_cast<uint32_t>(compiled.minor == 10 ? n : n * 2);
}

TEST(LineOf, AgreesWithCPython) {
  for (const Compiled& compiled : kCompiled) {
    SCOPED_TRACE(compiled.version);
    const std::string lines = FromHex(compiled.lines);
    std::vector<uint32_t> found;
    for (size_t i = 0; i < compiled.of.size(); ++i)
      found.push_back(LineOf(compiled.minor, lines, 2, PositionOf(compiled, i)));
    EXPECT_THAT(found, ElementsAreArray(compiled.of));
  }
}

TEST(LineOf, IsTheFunctionsOwnBeyondTheTable) {
  for (const Compiled& compiled : kCompiled) {
    SCOPED_TRACE(compiled.version);
    const std::string lines = FromHex(compiled.lines);
    EXPECT_EQ(LineOf(compiled.minor, lines, 2, ~uint32_t{0}), 2u) << "no instruction has run yet";
    EXPECT_EQ(LineOf(compiled.minor, "", 9, 0), 9u);
    // The tables of 3.8 and 3.9 do not say where they end.
    if (compiled.minor >= 10) {
      EXPECT_EQ(LineOf(compiled.minor, lines, 2, PositionOf(compiled, compiled.of.size())), 2u);
    }
  }
}

TEST(LineOf, TakesAnyBytes) {
  for (const Compiled& compiled : kCompiled) {
    std::string lines = FromHex(compiled.lines);
    const uint32_t last = PositionOf(compiled, compiled.of.size() - 1);
    const auto line = [&](std::string_view table) {
      return LineOf(compiled.minor, table, 2, last);
    };
    for (size_t size = 0; size < lines.size(); ++size)
      EXPECT_GT(line(std::string_view(lines).substr(0, size)), 0u);
    for (char& byte : lines) {
      const char before = std::exchange(byte, static_cast<char>(byte ^ 0x55));
      EXPECT_GT(line(lines), 0u);
      byte = before;
    }
  }
}

// The state of a compact string with characters of that many bytes.
uint32_t State(uint32_t width, bool ascii) {
  return (width | 1u << 3 | (ascii ? 1u << 4 : 0)) << 2;
}

TEST(ReadFunctionRecord, ReadsNamesOfAllWidths) {
  for (const uint16_t minor :
       {uint16_t{8}, uint16_t{10}, uint16_t{11}, uint16_t{12}, uint16_t{15}}) {
    SCOPED_TRACE(minor);
    const std::string skipped(minor >= 12 ? 16 : 24, 'x');
    ft_function function = FunctionOf(7, minor);
    SetText(function.name, "Cart.add", 8, State(1, true));
    SetText(function.file,
            skipped +
                "/gr\xf6\xdf"
                "e.py",
            9, State(1, false));
    auto read = ReadFunctionRecord(RecordOf(function, ""));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->function.name, "Cart.add");
    EXPECT_EQ(read->function.file, "/größe.py");
    EXPECT_EQ(read->function.first_line, 7u);
    SetText(function.name, skipped + std::string("\x22\x6f\x57\x5b", 4), 2, State(2, false));
    SetText(function.file, skipped + std::string("\x00\xf6\x01\x00", 4), 1, State(4, false));
    read = ReadFunctionRecord(RecordOf(function, ""));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->function.name, "漢字");
    EXPECT_EQ(read->function.file, "\xf0\x9f\x98\x80");
  }
}

TEST(ReadFunctionRecord, MarksWhatDidNotFit) {
  ft_function function = FunctionOf(7);
  SetText(function.name, std::string(255, 'n'), 4000, State(1, true));
  const auto read = ReadFunctionRecord(RecordOf(function, ""));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->function.name, std::string(255, 'n') + "…");
}

TEST(ReadFunctionRecord, RefusesWhatIsNoFunction) {
  ft_function function = FunctionOf(7);
  std::vector<std::byte> record = RecordOf(function, "abc");
  for (size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(ReadFunctionRecord(std::span(record).first(size))) << size;
  EXPECT_TRUE(ReadFunctionRecord(record));
  function.name.state = 0;
  EXPECT_FALSE(ReadFunctionRecord(RecordOf(function, ""))) << "not compact: its text is elsewhere";
  SetText(function.name, "", 0, State(1, true));
  EXPECT_FALSE(ReadFunctionRecord(RecordOf(function, "")));
}

}  // namespace
}  // namespace firetower::daemon
