// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/build_id.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Returns the build id that elfutils reads from the same file.
std::string LibdwBuildId(const std::string& path) {
  elf_version(EV_CURRENT);
  UniqueFd fd = OpenReadOnly(path).value();
  std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd.get(), ELF_C_READ, nullptr), elf_end);
  const void* id = nullptr;
  ssize_t length = dwelf_elf_gnu_build_id(elf.get(), &id);
  if (length <= 0) return "";
  return BuildIdHex({static_cast<const uint8_t*>(id), static_cast<size_t>(length)});
}

TEST(BuildId, EqualsThatOfElfutilsOnEveryLibraryHere) {
  size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/x86_64-linux-gnu")) {
    if (!entry.is_regular_file() || entry.path().string().find(".so") == std::string::npos)
      continue;
    auto source = FileSource::Open(entry.path());
    if (!source) continue;
    auto id = ReadBuildId(*source);
    if (!id && id.error().code() == ErrorCode::kUnsupported) continue;  // linker scripts
    EXPECT_EQ(id.value_or(""), LibdwBuildId(entry.path())) << entry.path();
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "no library in /usr/lib/x86_64-linux-gnu";
}

TEST(BuildId, IsFoundInASectionWhenThereIsNoSegment) {
  ElfBuilder builder;
  builder.AddCode(0x1000, 0x10);
  builder.AddSection(".note.gnu.build-id", SHT_NOTE, MakeNote("GNU", NT_GNU_BUILD_ID, "\x01\xff"));
  std::string bytes = builder.Build();
  EXPECT_EQ(ReadBuildId(MemorySource(Bytes(bytes))).value(), "01ff");
}

TEST(BuildId, IsNotFoundWhereThereIsNone) {
  ElfBuilder builder;
  builder.AddCode(0x1000, 0x10);
  std::string bytes = builder.Build();
  EXPECT_EQ(ReadBuildId(MemorySource(Bytes(bytes))).error().code(), ErrorCode::kNotFound);
}

TEST(BuildIdNote, IsFoundBehindOtherNotes) {
  std::string notes = MakeNote("GNU", NT_GNU_ABI_TAG, "0123456789abcdef") +
                      MakeNote("Go", 4, "xyz") + MakeNote("GNU", NT_GNU_BUILD_ID, "\xab\xcd");
  EXPECT_EQ(FindBuildIdNote(Bytes(notes)), "abcd");
}

TEST(BuildIdNote, AnotherOwnersNoteOfTheSameTypeIsNone) {
  EXPECT_FALSE(FindBuildIdNote(Bytes(MakeNote("FOO", NT_GNU_BUILD_ID, "\xab\xcd"))));
  EXPECT_FALSE(FindBuildIdNote(Bytes(MakeNote("GNU", NT_GNU_BUILD_ID, ""))));
  EXPECT_FALSE(FindBuildIdNote(
      Bytes(MakeNote("GNU", NT_GNU_BUILD_ID, std::string(kMaxBuildIdBytes + 1, 'x')))));
}

TEST(BuildIdNote, PadsToEightWhereTheSegmentIsAlignedSo) {
  // Header 12 + "GNU\0" 4 = 16; 4 bytes of property, padded to 24; then the build id's note.
  std::string notes = MakeNote("GNU", NT_GNU_PROPERTY_TYPE_0, "abcd") + std::string(4, '\0') +
                      MakeNote("GNU", NT_GNU_BUILD_ID, "\x12\x34\x56\x78");
  EXPECT_EQ(FindBuildIdNote(Bytes(notes), 8), "12345678");
  EXPECT_FALSE(FindBuildIdNote(Bytes(notes), 4));
}

TEST(BuildIdNote, EveryPrefixEndsCleanly) {
  std::string notes = MakeNote("GNU", NT_GNU_ABI_TAG, "0123") +
                      MakeNote("GNU", NT_GNU_BUILD_ID, "\x12\x34\x56\x78");
  for (size_t length = 0; length < notes.size(); ++length) {
    EXPECT_FALSE(FindBuildIdNote(Bytes(notes.substr(0, length))));
  }
  EXPECT_TRUE(FindBuildIdNote(Bytes(notes)));
}

TEST(BuildIdNote, SizesThatWouldOverflowEndTheSearch) {
  std::string note = MakeNote("GNU", NT_GNU_BUILD_ID, "\x12\x34");
  for (size_t field : {0u, 4u}) {
    std::string damaged = note;
    damaged.replace(field, 4, "\xff\xff\xff\xff");
    EXPECT_FALSE(FindBuildIdNote(Bytes(damaged)));
  }
}

}  // namespace
}  // namespace firetower::symbolizer
