// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/wire.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/codec/pprof/wire_writer.h"

namespace firetower::profile {
namespace {

// Seven bits a byte, the lowest first, the highest bit of each but the last set
// (protobuf.dev/programming-guides/encoding#varints).
std::string Varint(uint64_t value) {
  std::string bytes;
  while (value > 127) {
    bytes.push_back(static_cast<char>(value % 128 + 128));
    value /= 128;
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// Returns the first and last value of each length, and some between.
std::vector<uint64_t> Values() {
  std::vector<uint64_t> values = {0, UINT64_MAX};
  std::mt19937_64 random(5);
  for (unsigned bits = 7; bits < 64; bits += 7) {
    const uint64_t first = uint64_t{1} << bits;
    values.insert(values.end(), {first - 1, first, first | (random() & (first - 1))});
  }
  return values;
}

TEST(WireReader, ReadsTheExamplesOfTheDocumentation) {
  for (const auto& [bytes, expected] :
       {std::pair<std::string, uint64_t>("\x01", 1), {"\x96\x01", 150}, {"\xac\x02", 300}}) {
    uint64_t value = 0;
    WireReader in(bytes);
    ASSERT_TRUE(in.ReadVarint(&value));
    EXPECT_EQ(value, expected);
  }
}

// However much follows: where eight bytes are left, they are read at once.
TEST(WireReader, ReadsVarintsOfEachLengthAtEachDistanceFromTheEnd) {
  for (const uint64_t expected : Values()) {
    const std::string bytes = Varint(expected);
    for (const char behind : {'\x00', '\x7f', '\x80', '\xff'}) {
      for (size_t more = 0; more < 12; ++more) {
        const std::string message = bytes + std::string(more, behind);
        uint64_t value = 0;
        WireReader in(message);
        ASSERT_TRUE(in.ReadVarint(&value)) << expected << " before " << more;
        EXPECT_EQ(value, expected) << "before " << more;
        EXPECT_EQ(in.position(), bytes.size()) << expected << " before " << more;
      }
    }
  }
}

TEST(WireReader, RefusesWhatIsCutOffOrTooLong) {
  for (const uint64_t whole : Values()) {
    const std::string bytes = Varint(whole);
    for (size_t size = 0; size < bytes.size(); ++size) {
      uint64_t value = 0;
      EXPECT_FALSE(WireReader(std::string_view(bytes).substr(0, size)).ReadVarint(&value)) << whole;
    }
  }
  for (const size_t size : {10, 11, 20}) {
    uint64_t value = 0;
    const std::string bytes(size, '\xff');
    EXPECT_FALSE(WireReader(bytes).ReadVarint(&value)) << size;
  }
}

TEST(WireReader, GivesBackWhatWasWritten) {
  WireWriter writer;
  std::string text;
  for (int round = 0; round < 3; ++round) {
    writer.Clear();
    for (const uint64_t value : Values()) {
      if (value != 0) writer.Number(7, value);
      writer.Bytes(9, std::string(value % 3000, 'x'));
    }
    text = writer.bytes();
  }
  WireReader in(text);
  WireField field;
  for (const uint64_t value : Values()) {
    if (value != 0) {
      ASSERT_TRUE(in.ReadField(&field));
      EXPECT_EQ(field.number, 7u);
      EXPECT_FALSE(field.is_bytes);
      EXPECT_EQ(field.value, value);
    }
    ASSERT_TRUE(in.ReadField(&field));
    EXPECT_EQ(field.number, 9u);
    EXPECT_TRUE(field.is_bytes);
    EXPECT_EQ(field.bytes, std::string(value % 3000, 'x'));
  }
  EXPECT_TRUE(in.empty());
}

// A message that was moved away is not written again, even after the buffer grew.
TEST(WireWriter, MovesEachMessageOnce) {
  WireWriter writer;
  std::string out;
  for (const size_t size : {3, 200, 5, 70'000, 1}) {
    writer.Bytes(1, std::string(size, 'y'));
    writer.MoveTo(&out, 2);
  }
  WireReader in(out);
  WireField field;
  for (const size_t size : {3, 200, 5, 70'000, 1}) {
    ASSERT_TRUE(in.ReadField(&field));
    EXPECT_EQ(field.number, 2u);
    WireReader inner(field.bytes);
    ASSERT_TRUE(inner.ReadField(&field));
    EXPECT_EQ(field.bytes.size(), size);
    EXPECT_TRUE(inner.empty());
  }
  EXPECT_TRUE(in.empty());
}

}  // namespace
}  // namespace firetower::profile
