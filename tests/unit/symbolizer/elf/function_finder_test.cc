// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/function_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::string_view kNames[] = {"malloc", "calloc", "nowhere"};

using Found = std::multimap<std::string, uint64_t>;

Result<Found> Find(const std::string& bytes, uint32_t table) {
  const MemorySource source(std::as_bytes(std::span(bytes)));
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Open(source));
  ASSIGN_OR_RETURN(const auto functions, FindFunctions(file, table, kNames));
  Found found;
  for (const FoundFunction& function : functions)
    found.emplace(kNames[function.name], function.file_offset);
  return found;
}

std::string Object(const std::vector<ElfBuilder::TestSymbol>& symbols) {
  ElfBuilder builder;
  builder.AddCode(0x401000, 0x100);
  builder.AddSymbols(SHT_DYNSYM, symbols);
  return builder.Build();
}

const std::string kObject = Object({{"main", 0x401000, 16},
                                    {"malloc", 0x401010, 16},
                                    {"my_calloc", 0x401020, 16},
                                    {"calloc", 0x401030, 16},
                                    {"calloc2", 0x401040, 16}});

TEST(FunctionFinder, FindsWholeNames) {
  const Result<Found> found = Find(kObject, SHT_DYNSYM);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_THAT(*found, ElementsAre(Pair("calloc", ElfBuilder::kCodeFileOffset + 0x30),
                                  Pair("malloc", ElfBuilder::kCodeFileOffset + 0x10)));
  EXPECT_EQ(Find(kObject, SHT_SYMTAB).error().code(), ErrorCode::kNotFound);
}

TEST(FunctionFinder, LeavesOutWhatIsNoFunctionOfTheFile) {
  const Result<Found> found = Find(Object({{"malloc", 0x401010, 16, STB_GLOBAL, STT_OBJECT},
                                           {"calloc", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
                                           {"nowhere", 0x909000, 16}}),
                                   SHT_DYNSYM);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_THAT(*found, IsEmpty());
}

// Names lie across the reads, which are of 64 KiB, and symbols across theirs.
TEST(FunctionFinder, FindsOneOfVeryMany) {
  std::vector<ElfBuilder::TestSymbol> symbols;
  for (int i = 0; i < 9000; ++i) symbols.push_back({"f" + std::to_string(i * 1009), 0x401000, 1});
  for (const int at : {8999, 4000, 1}) {
    std::vector<ElfBuilder::TestSymbol> some = symbols;
    some[static_cast<size_t>(at)] = {"malloc", 0x401020, 1};
    const Result<Found> found = Find(Object(some), SHT_DYNSYM);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_THAT(*found, ElementsAre(Pair("malloc", ElfBuilder::kCodeFileOffset + 0x20))) << at;
  }
  // Every place of a name relative to a read's end.
  for (size_t pad = 0; pad < 10; ++pad) {
    const Result<Found> found =
        Find(Object({{std::string(65536 - 8 + pad, 'x'), 0x401000, 1}, {"malloc", 0x401020, 1}}),
             SHT_DYNSYM);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->size(), 1u) << pad;
  }
}

TEST(FunctionFinder, EveryTruncationFailsOrFindsTheSame) {
  const Found whole = *Find(kObject, SHT_DYNSYM);
  for (size_t size = 0; size < kObject.size(); ++size) {
    const Result<Found> found = Find(kObject.substr(0, size), SHT_DYNSYM);
    if (found) {
      EXPECT_EQ(*found, whole) << size;
    }
  }
}

}  // namespace
}  // namespace firetower::symbolizer
