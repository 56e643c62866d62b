// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfBuilder;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kCode = ElfBuilder::kCodeFileOffset;

std::vector<AllocatorFunction> Find(uint32_t table,
                                    const std::vector<ElfBuilder::TestSymbol>& symbols) {
  ElfBuilder builder;
  builder.AddCode(0x401000, 0x100);
  builder.AddSymbols(table, symbols);
  const std::string bytes = builder.Build();
  auto found = FindAllocator(symbolizer::MemorySource(std::as_bytes(std::span(bytes))));
  EXPECT_TRUE(found) << found.error().message();
  return found.value_or({});
}

TEST(FindAllocator, KnowsWhereEachFunctionHasItsSizeOrThatItFrees) {
  EXPECT_THAT(Find(SHT_DYNSYM, {{"malloc", 0x401000, 8},
                                {"calloc", 0x401010, 8},
                                {"realloc", 0x401020, 8},
                                {"reallocarray", 0x401030, 8},
                                {"posix_memalign", 0x401040, 8},
                                {"valloc", 0x401050, 8},
                                {"_Znwm", 0x401060, 8},
                                {"free", 0x401070, 8},
                                {"_ZdlPvm", 0x401080, 8},
                                {"malloc_usable_size", 0x401090, 8}}),
              UnorderedElementsAre(AllocatorFunction{SizeAt::kMalloc, kCode},
                                   AllocatorFunction{SizeAt::kProduct, kCode + 0x10},
                                   AllocatorFunction{SizeAt::kSecond, kCode + 0x20},
                                   AllocatorFunction{SizeAt::kLastProduct, kCode + 0x30},
                                   AllocatorFunction{SizeAt::kThird, kCode + 0x40},
                                   AllocatorFunction{SizeAt::kFirst, kCode + 0x50},
                                   AllocatorFunction{SizeAt::kFirst, kCode + 0x60},
                                   AllocatorFunction{SizeAt::kNone, kCode + 0x70},
                                   AllocatorFunction{SizeAt::kNone, kCode + 0x80}));
}

// libstdc++'s operator new calls a malloc of another file: there it is counted.
TEST(FindAllocator, TakesOnlyFilesWithAMallocOfTheirOwn) {
  EXPECT_THAT(Find(SHT_DYNSYM, {{"_Znwm", 0x401000, 8}, {"_Znam", 0x401010, 8}}), IsEmpty());
  EXPECT_THAT(Find(SHT_DYNSYM,
                   {{"calloc", 0x401000, 8}, {"malloc", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF}}),
              IsEmpty());
}

TEST(FindAllocator, TakesAFunctionWithSeveralNamesOnce) {
  EXPECT_THAT(Find(SHT_DYNSYM, {{"malloc", 0x401000, 8}, {"tc_malloc", 0x401000, 8}}),
              UnorderedElementsAre(AllocatorFunction{SizeAt::kMalloc, kCode}));
}

TEST(FindAllocator, FindsWhatAProgramIsLinkedWith) {
  EXPECT_THAT(Find(SHT_SYMTAB, {{"je_malloc", 0x401000, 8}, {"je_rallocx", 0x401010, 8}}),
              UnorderedElementsAre(AllocatorFunction{SizeAt::kMalloc, kCode},
                                   AllocatorFunction{SizeAt::kSecond, kCode + 0x10}));
}

TEST(FindAllocator, FindsThatOfTheCLibrary) {
  const auto libc = symbolizer::FileSource::Open("/lib/x86_64-linux-gnu/libc.so.6");
  if (!libc) GTEST_SKIP() << libc.error().message();
  const auto found = FindAllocator(*libc);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_GE(found->size(), 7u);
}

}  // namespace
}  // namespace firetower::daemon
