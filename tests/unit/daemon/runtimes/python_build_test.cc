// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/python_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "symbolizer/elf/symbols/function_finder.h"
#include "symbolizer/random_access.h"
#include "tests/unit/daemon/runtimes/file_bytes.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BytesOf;
using ::testing::HasSubstr;

Result<FoundPython> Find(std::span<const std::byte> bytes) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindPython(file);
}

// The bytes of the system's Python, and where its Py_Version lies: 8 bytes that say 3.MINOR.
struct Python {
  std::vector<std::byte> bytes = BytesOf("/usr/bin/python3");

  // Writes the description that builds from 3.13 on have.
  void Describe(uint64_t free_threaded) {
    symbolizer::MemorySource source(bytes);
    const auto file = symbolizer::ElfFile::Open(source);
    ASSERT_TRUE(file);
    constexpr std::string_view kNames[] = {"_PyRuntime"};
    const auto symbols = symbolizer::FindSymbols(*file, SHT_DYNSYM, kNames);
    ASSERT_TRUE(symbols && !symbols->empty());
    for (const Elf64_Phdr& segment : file->program_headers()) {
      const uint64_t at = (*symbols)[0].value - segment.p_vaddr;
      if (segment.p_type != PT_LOAD || (*symbols)[0].value < segment.p_vaddr ||
          at + 24 > segment.p_filesz)
        continue;
      std::memcpy(&bytes[segment.p_offset + at], "xdebugpy", 8);
      std::memcpy(&bytes[segment.p_offset + at + 16], &free_threaded, 8);
    }
  }

  void SetVersion(uint8_t major, uint8_t minor) {
    const auto found = Find(bytes);
    ASSERT_TRUE(found && found->build);
    const auto old = static_cast<std::byte>(found->build->minor);
    // PY_VERSION_HEX as a long: serial and level, micro, minor, major, four zeros.
    for (size_t i = 8; i + 8 <= bytes.size(); ++i) {
      const auto* at = &bytes[i];
      if (at[3] != std::byte{3} || at[2] != old || at[0] != std::byte{0xf0}) continue;
      if (std::any_of(at + 4, at + 8, [](std::byte byte) { return byte != std::byte{0}; }))
        continue;
      bytes[i + 3] = std::byte{major};
      bytes[i + 2] = std::byte{minor};
    }
  }
};

TEST(FindPython, KnowsTheSystemsPython) {
  const auto found = Find(Python().bytes);
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_TRUE(found->build) << found->why;
  EXPECT_EQ(found->build->runtime_kind, FT_RUNTIME_PYTHON);
  EXPECT_GE(found->build->minor, 11);
  EXPECT_NE(found->build->runtime, found->build->code_type);
  EXPECT_EQ(found->version, "3." + std::to_string(found->build->minor));
}

TEST(FindPython, IsNothingElse) {
  const auto found = Find(BytesOf("/bin/sh"));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->version, "");
  EXPECT_FALSE(found->build);
}

TEST(FindPython, RefusesAVersionThatItDoesNotKnow) {
  for (const uint8_t minor : {uint8_t{10}, uint8_t{16}, uint8_t{200}}) {
    Python python;
    python.SetVersion(3, minor);
    const auto found = Find(python.bytes);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->build);
    EXPECT_EQ(found->version, "3." + std::to_string(minor));
    EXPECT_THAT(found->why, HasSubstr("3.8 to 3.15"));
  }
  Python python;
  python.SetVersion(4, 11);
  const auto found = Find(python.bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "4.11");
  EXPECT_FALSE(found->build);
}

TEST(FindPython, RefusesBuildsWithAnotherObjectHead) {
  Python python;
  python.Describe(1);
  python.SetVersion(3, 13);
  const auto found = Find(python.bytes);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->build);
  EXPECT_THAT(found->why, HasSubstr("free-threaded"));
  Python undescribed;
  undescribed.SetVersion(3, 13);
  const auto other = Find(undescribed.bytes);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->build);
}

// Each offset is used unchecked by the walk, within its window.
TEST(FindPython, HasOffsetsWithinWhatTheWalkReads) {
  for (const uint8_t minor : {uint8_t{11}, uint8_t{12}, uint8_t{13}, uint8_t{14}, uint8_t{15}}) {
    SCOPED_TRACE(int{minor});
    Python python;
    if (minor >= 13) python.Describe(0);
    python.SetVersion(3, minor);
    const auto found = Find(python.bytes);
    ASSERT_TRUE(found && found->build) << (found ? found->why : found.error().message());
    const ft_python& build = *found->build;
    EXPECT_EQ(build.minor, minor);
    for (const uint16_t word : {build.frame_code, build.frame_previous, build.frame_instruction}) {
      EXPECT_LE(word + 8, FT_CHAIN_FRAME_BYTES);
      EXPECT_EQ(word % 8, 0);
    }
    EXPECT_LT(build.frame_owner, FT_CHAIN_FRAME_BYTES);
    EXPECT_LE(build.frame_bytes, FT_CHAIN_FRAME_BYTES);
    EXPECT_GE(build.frame_bytes, build.frame_instruction + 8);
    for (const uint16_t word : {build.code_file, build.code_name, build.code_lines}) {
      EXPECT_LE(word + 8, FT_PYTHON_CODE_BYTES);
      EXPECT_EQ(word % 8, 0);
    }
    EXPECT_LE(build.code_first_line + 4, FT_PYTHON_CODE_BYTES);
    EXPECT_GT(build.code_start, build.code_lines);
  }
}

TEST(FindPython, TakesAnyPartOfTheFile) {
  const std::vector<std::byte> bytes = Python().bytes;
  for (size_t size = 0; size < bytes.size(); size += bytes.size() / 97 + 1) {
    const auto found = Find(std::span(bytes).first(size));
    EXPECT_FALSE(found && found->build) << size;
  }
}

}  // namespace
}  // namespace firetower::daemon
