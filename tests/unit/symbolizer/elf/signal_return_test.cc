// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/signal_return.h"

#include <gtest/gtest.h>

#include <cstring>

#include "symbolizer/symbol_table.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

using std::string_literals::operator""s;

constexpr uint64_t kCode = 0x401000;
constexpr uint64_t kCodeBytes = 0x30000;
constexpr uint64_t kOffset = ElfBuilder::kCodeFileOffset;
// mov $0xf,%rax; syscall
const std::string kSignalReturn = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"s;

// 192 KiB of code, nops but for that at each of `places`.
std::string FileWith(const std::vector<uint64_t>& places) {
  ElfBuilder builder;
  builder.AddCode(kCode, kCodeBytes);
  std::string file = builder.Build();
  for (uint64_t place : places) file.replace(kOffset + place, kSignalReturn.size(), kSignalReturn);
  return file;
}

std::optional<uint64_t> Find(const std::string& bytes, uint64_t begin = 0,
                             uint64_t end = kCodeBytes) {
  MemorySource source(std::as_bytes(std::span(bytes)));
  const ElfFile file = ElfFile::Open(source).value();
  auto found = SignalReturnSearch(file).FindIn(kCode + begin, kCode + end);
  if (found) *found -= kCode;
  return found;
}

// The file is read in pieces: it may lie across any two.
TEST(SignalReturnSearch, FindsItAnywhere) {
  for (uint64_t place = 0; place + kSignalReturn.size() <= kCodeBytes; place += 4099) {
    EXPECT_EQ(Find(FileWith({place})), place);
  }
  for (uint64_t before = 0; before <= kSignalReturn.size(); ++before) {
    for (uint64_t chunk = 0x10000; chunk < kCodeBytes; chunk += 0x10000) {
      EXPECT_EQ(Find(FileWith({chunk - before})), chunk - before);
    }
  }
  const uint64_t last = kCodeBytes - kSignalReturn.size();
  EXPECT_EQ(Find(FileWith({last})), last);
  EXPECT_EQ(Find(FileWith({})), std::nullopt);
}

TEST(SignalReturnSearch, MustLieInTheRangeAsAWhole) {
  const std::string file = FileWith({0x100});
  EXPECT_EQ(Find(file, 0x100, 0x109), 0x100u);
  EXPECT_EQ(Find(file, 0x101, kCodeBytes), std::nullopt);
  EXPECT_EQ(Find(file, 0, 0x108), std::nullopt);
}

TEST(SignalReturnSearch, GivesUpAfterAFew) {
  const std::string bytes = FileWith({0x100, 0x200, 0x300, 0x400, 0x500});
  MemorySource source(std::as_bytes(std::span(bytes)));
  const ElfFile file = ElfFile::Open(source).value();
  SignalReturnSearch search(file);
  uint64_t begin = kCode;
  for (uint64_t place = 0x100; place <= 0x400; place += 0x100) {
    const auto found = search.FindIn(begin, kCode + kCodeBytes);
    ASSERT_EQ(found, kCode + place);
    begin = *found + 1;
  }
  EXPECT_EQ(search.FindIn(begin, kCode + kCodeBytes), std::nullopt);
}

TEST(SignalReturnSearch, ReadsNoMoreThanItsBound) {
  const std::string bytes = FileWith({0x20000});
  MemorySource source(std::as_bytes(std::span(bytes)));
  const ElfFile file = ElfFile::Open(source).value();
  SignalReturnSearch search(file);
  for (uint64_t read = 0; read < SignalReturnSearch::kMaxBytes; read += 0x10000) {
    EXPECT_EQ(search.FindIn(kCode, kCode + 0x10000), std::nullopt);
  }
  EXPECT_EQ(search.FindIn(kCode + 0x20000, kCode + kCodeBytes), std::nullopt);
}

constexpr uint64_t kDynamic = 0x200;  // before the code there is room
constexpr Elf64_Dyn kNeeded = {DT_NEEDED, {1}};
constexpr Elf64_Dyn kEnd = {DT_NULL, {0}};

// With a dynamic section of these entries.
std::string DynamicFile(const std::vector<Elf64_Dyn>& entries) {
  std::string file = FileWith({0x100});
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = kDynamic;
  dynamic.p_filesz = entries.size() * sizeof(Elf64_Dyn);
  std::memcpy(file.data() + kDynamic, entries.data(), dynamic.p_filesz);
  std::memcpy(file.data() + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), &dynamic, sizeof(dynamic));
  reinterpret_cast<Elf64_Ehdr*>(file.data())->e_phnum = 2;
  return file;
}

TEST(SignalReturnSearch, LeavesWhatNeedsALibraryAlone) {
  const Elf64_Dyn strings = {DT_STRTAB, {1}};
  EXPECT_EQ(Find(DynamicFile({strings, kNeeded, kEnd})), std::nullopt);
  EXPECT_EQ(Find(DynamicFile({strings, kEnd, kNeeded})), 0x100u) << "what is behind the end";
}

// Every prefix of the file: none is found where its bytes are not.
TEST(SignalReturnSearch, SurvivesTruncatedFiles) {
  const std::string bytes = DynamicFile({kEnd});
  for (size_t size = 0; size < bytes.size(); size += size < 0x2000 ? 1 : 997) {
    MemorySource source(std::as_bytes(std::span(bytes).first(size)));
    const auto file = ElfFile::Open(source);
    if (!file) continue;
    const auto found = SignalReturnSearch(*file).FindIn(kCode, kCode + kCodeBytes);
    EXPECT_TRUE(!found || size >= kOffset + 0x100 + kSignalReturn.size()) << size;
  }
}

// Makes the table of a file with those labels, and with the code that signal handlers return to at
// 0x40.
std::shared_ptr<SymbolTable> TableOf(uint32_t section_type,
                                     const std::vector<ElfBuilder::TestSymbol>& labels) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  builder.AddSymbols(section_type, labels);
  std::string bytes = builder.Build();
  bytes.replace(kOffset + 0x40, kSignalReturn.size(), kSignalReturn);
  return LoadElfSymbols(MemorySource(std::as_bytes(std::span(bytes)))).value();
}

// This is musl after strip: symbols of its assembly have no sizes.
TEST(SymbolTable, ALabelDoesNotNameWhatSignalHandlersReturnTo) {
  const auto table =
      TableOf(SHT_DYNSYM, {{"setjmp", kCode + 0x10, 0}, {"sigsetjmp", kCode + 0x49, 0}});
  EXPECT_EQ(table->Find(kOffset + 0x10)->name, "setjmp");
  EXPECT_EQ(table->Find(kOffset + 0x3f)->name, "setjmp");
  for (uint64_t at = 0x40; at < 0x49; ++at) EXPECT_FALSE(table->Find(kOffset + at)) << at;
  EXPECT_EQ(table->Find(kOffset + 0x49)->name, "sigsetjmp");
}

TEST(SymbolTable, ItsOwnLabelDoes) {
  const auto table =
      TableOf(SHT_SYMTAB, {{"setjmp", kCode + 0x10, 0}, {"__restore_rt", kCode + 0x40, 0}});
  EXPECT_EQ(table->Find(kOffset + 0x3f)->name, "setjmp");
  EXPECT_EQ(table->Find(kOffset + 0x40)->name, "__restore_rt");
  EXPECT_EQ(table->Find(kOffset + 0x48)->name, "__restore_rt");
}

}  // namespace
}  // namespace firetower::symbolizer
