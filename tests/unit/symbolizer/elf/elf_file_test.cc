// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/elf_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "symbolizer/elf/symbols/string_table.h"
#include "symbolizer/elf/symbols/symbol_reader.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

class ElfFileTest : public ::testing::Test {
 protected:
  ElfFileTest() {
    ElfBuilder builder;
    builder.AddCode(0x1000, 0x40);
    builder.AddSymbols(SHT_SYMTAB, {{"a", 0x1000, 0x10}});
    bytes_ = builder.Build();
  }
  Elf64_Ehdr& header() { return *reinterpret_cast<Elf64_Ehdr*>(bytes_.data()); }
  Elf64_Shdr& section(size_t index) {
    return reinterpret_cast<Elf64_Shdr*>(bytes_.data() + header().e_shoff)[index];
  }
  ErrorCode OpenCode() {
    MemorySource source(Bytes(bytes_));
    auto file = ElfFile::Open(source);
    return file ? ErrorCode::kInternal : file.error().code();
  }
  std::string bytes_;
};

TEST_F(ElfFileTest, FindsSectionsByName) {
  MemorySource source(Bytes(bytes_));
  ElfFile file = ElfFile::Open(source).value();
  EXPECT_EQ(file.type(), ET_DYN);
  ASSERT_NE(file.FindSection(".symtab"), nullptr);
  EXPECT_EQ(file.FindSection(".symtab")->sh_type, static_cast<uint32_t>(SHT_SYMTAB));
  EXPECT_EQ(file.FindSection(".debug"), nullptr);
}

TEST_F(ElfFileTest, RefusesHeadersBeyondTheFile) {
  header().e_phoff = bytes_.size() - 8;
  EXPECT_EQ(OpenCode(), ErrorCode::kCorrupt);
  header().e_phoff = UINT64_MAX - 8;
  EXPECT_EQ(OpenCode(), ErrorCode::kCorrupt);
}

TEST_F(ElfFileTest, RefusesHeadersOfAnotherSize) {
  header().e_phentsize = 12;
  EXPECT_EQ(OpenCode(), ErrorCode::kCorrupt);
  header().e_phentsize = sizeof(Elf64_Phdr);
  header().e_shentsize = 12;
  EXPECT_EQ(OpenCode(), ErrorCode::kCorrupt);
}

TEST_F(ElfFileTest, ReadsCountsThatDoNotFitTheHeaderFromSectionZero) {
  uint64_t sections = header().e_shnum;
  section(0).sh_size = sections;
  section(0).sh_link = header().e_shstrndx;
  section(0).sh_info = header().e_phnum;
  header().e_shnum = 0;
  header().e_shstrndx = SHN_XINDEX;
  header().e_phnum = PN_XNUM;
  MemorySource source(Bytes(bytes_));
  ElfFile file = ElfFile::Open(source).value();
  EXPECT_EQ(file.sections().size(), sections);
  EXPECT_EQ(file.program_headers().size(), 1u);
  EXPECT_NE(file.FindSection(".symtab"), nullptr);
}

TEST_F(ElfFileTest, RefusesMoreHeadersThanAnyFileHas) {
  header().e_phnum = ElfFile::kMaxProgramHeaders + 1;
  EXPECT_EQ(OpenCode(), ErrorCode::kExhausted);
  header().e_phnum = 1;
  header().e_shnum = 0;
  section(0).sh_size = ElfFile::kMaxSections + 1;
  EXPECT_EQ(OpenCode(), ErrorCode::kExhausted);
}

TEST_F(ElfFileTest, DoesWithoutSections) {
  header().e_shoff = 0;
  MemorySource source(Bytes(bytes_));
  ElfFile file = ElfFile::Open(source).value();
  EXPECT_TRUE(file.sections().empty());
  EXPECT_EQ(FindSymbolSection(file, SHT_SYMTAB).error().code(), ErrorCode::kNotFound);
}

TEST_F(ElfFileTest, DoesWithoutSectionNames) {
  header().e_shstrndx = 200;
  MemorySource source(Bytes(bytes_));
  ElfFile file = ElfFile::Open(source).value();
  EXPECT_EQ(file.FindSection(".symtab"), nullptr);
  EXPECT_TRUE(FindSymbolSection(file, SHT_SYMTAB));
}

TEST_F(ElfFileTest, RefusesASymbolTableThatIsNone) {
  for (auto damage :
       {+[](Elf64_Shdr& s) { s.sh_entsize = 7; }, +[](Elf64_Shdr& s) { s.sh_link = 99; },
        +[](Elf64_Shdr& s) { s.sh_size = UINT64_MAX; },
        +[](Elf64_Shdr& s) { s.sh_offset = UINT64_MAX - 4; }}) {
    const std::string saved = bytes_;
    damage(section(2));
    MemorySource source(Bytes(bytes_));
    ElfFile file = ElfFile::Open(source).value();
    EXPECT_EQ(FindSymbolSection(file, SHT_SYMTAB).error().code(), ErrorCode::kCorrupt);
    bytes_ = saved;
  }
}

TEST(StringTable, ReadsAcrossItsWindow) {
  std::string text(1, '\0');
  std::vector<uint64_t> offsets;
  for (int i = 0; i < 30'000; ++i) {
    offsets.push_back(text.size());
    text += "name" + std::to_string(i) + '\0';
  }
  MemorySource source(Bytes(text));
  Elf64_Shdr section{};
  section.sh_size = text.size();
  StringTable table(source, section);
  for (size_t i = 0; i < offsets.size(); ++i) {
    ASSERT_EQ(table.Get(offsets[i]), "name" + std::to_string(i));
  }
  EXPECT_EQ(table.Get(offsets[3]), "name3");  // backwards as well
  EXPECT_EQ(table.Get(0), "");
  EXPECT_FALSE(table.Get(text.size()));
}

TEST(StringTable, CutsOverlongNamesAndRefusesUnterminatedOnes) {
  std::string text = std::string(100'000, 'x');
  MemorySource source(Bytes(text));
  Elf64_Shdr section{};
  section.sh_size = text.size();
  StringTable table(source, section);
  EXPECT_EQ(table.Get(0)->size(), StringTable::kMaxNameBytes);
  EXPECT_FALSE(table.Get(text.size() - 10));
  section.sh_size = text.size() + 500'000;  // a lie
  StringTable beyond(source, section);
  EXPECT_FALSE(beyond.Get(text.size() + 100'000));
}

TEST(FileSource, ReadsAndRefusesWhatIsNoRegularFile) {
  char path[] = "/tmp/firetower-source-XXXXXX";
  UniqueFd fd(mkstemp(path));
  ASSERT_EQ(::write(fd.get(), "hello", 5), 5);
  FileSource source = FileSource::Open(path).value();
  EXPECT_EQ(source.size(), 5u);
  char out[3];
  ASSERT_TRUE(source.ReadAt(2, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(std::string_view(out, 3), "llo");
  ASSERT_EQ(::ftruncate(fd.get(), 2), 0);  // under our hands
  EXPECT_EQ(source.ReadAt(2, std::as_writable_bytes(std::span(out))).error().code(),
            ErrorCode::kCorrupt);
  ::unlink(path);
  EXPECT_EQ(FileSource::Open(path).error().code(), ErrorCode::kNotFound);
  ASSERT_EQ(::mkfifo(path, 0600), 0);
  EXPECT_EQ(FileSource::Open(path).error().code(), ErrorCode::kInvalid);
  ::unlink(path);
  EXPECT_EQ(FileSource::Open("/tmp").error().code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace firetower::symbolizer
