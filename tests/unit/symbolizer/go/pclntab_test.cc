// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/pclntab.h"

#include <gtest/gtest.h>

#include <cstring>

#include "symbolizer/go/go_values.h"
#include "tests/unit/symbolizer/support/go_builder.h"

namespace firetower::symbolizer {
namespace {

using Version = Pclntab::Version;

// Opens bytes that it keeps.
class Opened {
 public:
  explicit Opened(std::string bytes) : bytes_(std::move(bytes)), source_(Bytes()) {
    auto file = ElfFile::Open(source_);
    if (!file) {
      table_.emplace(file.error());
      return;
    }
    file_.emplace(*std::move(file));
    table_.emplace(Pclntab::Open(*file_));
  }
  Result<Pclntab>& operator*() { return *table_; }
  Pclntab* operator->() { return &table_->value(); }
  ErrorCode code() const { return table_->error().code(); }

 private:
  std::span<const std::byte> Bytes() const { return std::as_bytes(std::span(bytes_)); }

  std::string bytes_;
  MemorySource source_;
  std::optional<ElfFile> file_;
  std::optional<Result<Pclntab>> table_;
};

TestGoFunction Function(const std::string& name, size_t bytes = 16) {
  return {.name = name, .code = std::string(bytes, '\x90'), .depths = {{0, 16}}};
}

TestGoFile ThreeFunctions(Version version) {
  TestGoFile file(version);
  file.SetFiles({"/src/a.go", "/src/b.go"});
  TestGoFunction main = Function("main.main", 40);
  main.files = {{0, 10}, {1, 30}};
  main.lines = {{10, 4}, {12, 8}, {7, 28}};
  file.Add(main);
  file.Add(Function("main.(*T).Method"));
  file.Add(Function("main.Generic[...]"));
  return file;
}

class PclntabTest : public ::testing::TestWithParam<Version> {};

void ExpectThreeFunctions(Pclntab& table) {
  ASSERT_EQ(table.function_count(), 3u);
  EXPECT_EQ(table.begin_elf_vaddr(), TestGoFile::kCode);
  EXPECT_EQ(table.end_elf_vaddr(), TestGoFile::kCode + 0x50);
  auto method = table.Function(1);
  ASSERT_TRUE(method);
  EXPECT_EQ(method->begin_elf_vaddr, TestGoFile::kCode + 0x30);
  EXPECT_EQ(method->end_elf_vaddr, TestGoFile::kCode + 0x40);
  EXPECT_EQ(table.Name(method->name), "main.(*T).Method");
  EXPECT_FALSE(table.Function(3));
}

TEST_P(PclntabTest, ReadsFunctions) {
  Opened table(ThreeFunctions(GetParam()).Build());
  ASSERT_TRUE(*table) << (*table).error().message();
  EXPECT_EQ(table->version(), GetParam());
  ExpectThreeFunctions(*(*table));
}

TEST_P(PclntabTest, FindsTheFunctionAtAnAddress) {
  Opened table(ThreeFunctions(GetParam()).Build());
  EXPECT_EQ(table->FindFunction(TestGoFile::kCode), 0u);
  EXPECT_EQ(table->FindFunction(TestGoFile::kCode + 0x2f), 0u);
  EXPECT_EQ(table->FindFunction(TestGoFile::kCode + 0x30), 1u);
  EXPECT_EQ(table->FindFunction(TestGoFile::kCode + 0x4f), 2u);
  EXPECT_FALSE(table->FindFunction(TestGoFile::kCode + 0x50));
  EXPECT_FALSE(table->FindFunction(TestGoFile::kCode - 1));
}

TEST_P(PclntabTest, ReadsFilesAndLines) {
  Opened table(ThreeFunctions(GetParam()).Build());
  const GoFunction main = table->Function(0).value();
  auto line = [&](uint64_t behind) {
    return GoValueAt(*(*table), main.line_values, main, TestGoFile::kCode + behind);
  };
  EXPECT_EQ(line(0), 10);
  EXPECT_EQ(line(3), 10);
  EXPECT_EQ(line(4), 12);
  EXPECT_EQ(line(39), 7);
  EXPECT_EQ(line(40), -1);
  EXPECT_EQ(GoValueAt(*(*table), main.file_values, main, TestGoFile::kCode + 12), 1);
  EXPECT_EQ(table->FileName(main, 1), "/src/b.go");
  EXPECT_EQ(table->FileName(main, -1), "");
  EXPECT_EQ(table->FileName(main, 1000), "");
  EXPECT_EQ(table->Name(UINT32_MAX), "");
}

TEST_P(PclntabTest, DoesWithoutSectionHeaders) {
  TestGoFile file = ThreeFunctions(GetParam());
  file.LeaveOutSectionHeaders();
  Opened table(file.Build());
  ASSERT_TRUE(*table) << (*table).error().message();
  ExpectThreeFunctions(*(*table));
}

TEST_P(PclntabTest, FindsTheCodeByTheModuleData) {
  TestGoFile file = ThreeFunctions(GetParam());
  file.LeaveOutTextStart();
  Opened table(file.Build());
  ASSERT_TRUE(*table) << (*table).error().message();
  ExpectThreeFunctions(*(*table));
}

TEST_P(PclntabTest, FindsTheCodeByRelocations) {
  TestGoFile file = ThreeFunctions(GetParam());
  file.MakePositionIndependent();
  Opened table(file.Build());
  ASSERT_TRUE(*table) << (*table).error().message();
  ExpectThreeFunctions(*(*table));
}

TEST_P(PclntabTest, TakesTheHeadersWordForTheCode) {
  TestGoFile file = ThreeFunctions(GetParam());
  file.LeaveOutModuleData();
  Opened table(file.Build());
  ASSERT_TRUE(*table) << (*table).error().message();
  ExpectThreeFunctions(*(*table));
}

// Reads all that there is.
void ReadEverything(Pclntab& table) {
  for (uint32_t index = 0; index < table.function_count(); ++index) {
    const auto function = table.Function(index);
    if (!function) continue;
    EXPECT_LT(function->begin_elf_vaddr, function->end_elf_vaddr);
    table.Name(function->name);
    for (uint64_t at = function->begin_elf_vaddr; at < function->end_elf_vaddr; ++at) {
      table.FileName(*function, GoValueAt(table, function->file_values, *function, at));
      GoValueAt(table, function->line_values, *function, at);
    }
    EXPECT_LT(table.FindFunction(function->begin_elf_vaddr).value_or(0), table.function_count());
  }
}

// Every prefix, with the file's end or with zeros behind it.
TEST_P(PclntabTest, SurvivesTruncation) {
  TestGoFile file = ThreeFunctions(GetParam());
  const std::string table = file.BuildTable();
  file.LeaveOutSectionHeaders();
  const std::string bare = file.Build();
  const size_t begin = TestGoFile::kTable - 0x400000;
  size_t opened = 0;
  for (size_t size = 0; size < table.size(); ++size) {
    Opened zeroed(file.BuildAround(table.substr(0, size), ""));
    Opened ended(bare.substr(0, begin + size));
    for (Opened* prefix : {&zeroed, &ended}) {
      if (!**prefix) continue;
      ++opened;
      ReadEverything(***prefix);
    }
  }
  // The last bytes of the table are not needed to open it.
  EXPECT_GT(opened, 0u);
}

INSTANTIATE_TEST_SUITE_P(Versions, PclntabTest,
                         ::testing::Values(Version::kGo116, Version::kGo118, Version::kGo120),
                         VersionName);

TEST(Pclntab, RefusesWhatSaysNothingOfItsCode) {
  TestGoFile file = ThreeFunctions(Version::kGo120);
  file.LeaveOutTextStart();
  file.LeaveOutModuleData();
  EXPECT_EQ(Opened(file.Build()).code(), ErrorCode::kUnsupported);
}

std::string WithTableByte(size_t offset, char value) {
  std::string bytes = ThreeFunctions(Version::kGo120).Build();
  bytes[TestGoFile::kTable - 0x400000 + offset] = value;
  return bytes;
}

TEST(Pclntab, RefusesOtherHeaders) {
  EXPECT_EQ(Opened(WithTableByte(0, '\xfb')).code(), ErrorCode::kUnsupported);  // Go 1.15
  EXPECT_EQ(Opened(WithTableByte(0, '\xf2')).code(), ErrorCode::kUnsupported);  // a later one
  EXPECT_EQ(Opened(WithTableByte(6, 4)).code(), ErrorCode::kUnsupported);       // ARM
  EXPECT_EQ(Opened(WithTableByte(7, 4)).code(), ErrorCode::kUnsupported);       // 32-bit
  EXPECT_EQ(Opened(WithTableByte(8, 0)).code(), ErrorCode::kCorrupt);           // no functions
  EXPECT_EQ(Opened(WithTableByte(14, 1)).code(), ErrorCode::kCorrupt);          // 2^48 of them
  EXPECT_EQ(Opened(WithTableByte(9, 16)).code(), ErrorCode::kCorrupt);          // 4,099
  EXPECT_EQ(Opened(WithTableByte(39, 1)).code(), ErrorCode::kCorrupt);          // names far away
}

TEST(Pclntab, IsNotFoundInOtherFiles) {
  EXPECT_EQ(Opened(FileWithEhFrame(FrameBuilder(FrameBuilder::Format::kEhFrame, 0))).code(),
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace firetower::symbolizer
