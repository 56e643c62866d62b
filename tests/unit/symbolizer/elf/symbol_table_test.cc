// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symbol_table.h"

#include <gtest/gtest.h>

#include "tests/unit/symbolizer/support/elf_builder.h"
#include "tests/unit/symbolizer/support/xz.h"

namespace firetower::symbolizer {
namespace {

constexpr uint64_t kCode = 0x401000;
constexpr uint64_t kOffset = ElfBuilder::kCodeFileOffset;

Result<std::shared_ptr<SymbolTable>> Load(const std::string& bytes, const LoadLimits& limits = {}) {
  return LoadElfSymbols(MemorySource(std::as_bytes(std::span(bytes))), limits);
}

std::string NameAt(const SymbolTable& table, uint64_t file_offset) {
  auto symbol = table.Find(file_offset);
  return symbol ? std::string(symbol->name) : FormatUnknown("lib.so", file_offset);
}

TEST(SymbolTable, NamesNothingBeyondASymbolsEnd) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  builder.AddSymbols(SHT_SYMTAB, {{"first", kCode + 0x10, 0x10}, {"second", kCode + 0x40, 0x20}});
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(NameAt(*table, kOffset + 0x0f), "[lib.so]+0x100f");
  EXPECT_EQ(NameAt(*table, kOffset + 0x10), "first");
  EXPECT_EQ(NameAt(*table, kOffset + 0x1f), "first");
  EXPECT_EQ(NameAt(*table, kOffset + 0x20), "[lib.so]+0x1020");
  EXPECT_EQ(NameAt(*table, kOffset + 0x3f), "[lib.so]+0x103f");
  EXPECT_EQ(NameAt(*table, kOffset + 0x5f), "second");
  EXPECT_EQ(NameAt(*table, kOffset + 0x60), "[lib.so]+0x1060");
}

TEST(SymbolTable, TellsTheOffsetInTheFunctionAlsoBehindANestedOne) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  builder.AddSymbols(SHT_SYMTAB, {{"outer", kCode, 0x40}, {"inner", kCode + 0x10, 0x10}});
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(table->FindVaddr(kCode + 0x05)->offset, 0x05u);
  EXPECT_EQ(table->FindVaddr(kCode + 0x12)->name, "inner");
  EXPECT_EQ(table->FindVaddr(kCode + 0x12)->offset, 0x02u);
  EXPECT_EQ(table->FindVaddr(kCode + 0x25)->name, "outer");
  EXPECT_EQ(table->FindVaddr(kCode + 0x25)->offset, 0x25u);
}

TEST(SymbolTable, ConvertsFileOffsetsThroughTheSegment) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(table->FileOffsetToVaddr(kOffset), kCode);
  EXPECT_EQ(table->FileOffsetToVaddr(kOffset + 0xff), kCode + 0xff);
  EXPECT_FALSE(table->FileOffsetToVaddr(kOffset + 0x100));
  EXPECT_FALSE(table->FileOffsetToVaddr(kOffset - 1));
}

TEST(SymbolTable, PrefersTheCodeWhereSegmentsShareAPageOfTheFile) {
  SymbolTable table(0x2000, {{0, 0x9000, 0x1000, false}, {0, 0x2000, 0x1000, true}}, {}, "");
  EXPECT_EQ(table.FileOffsetToVaddr(0x10), 0x2010u);
}

TEST(SymbolTable, FillsFromDynsymWhatAStrippedSymtabLacks) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  builder.AddSymbols(SHT_SYMTAB, {{"kept", kCode, 0x10}});
  builder.AddSymbols(SHT_DYNSYM, {{"exported", kCode + 0x08, 0x18}});
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(table->FindVaddr(kCode + 0x0f)->name, "kept");
  EXPECT_EQ(table->FindVaddr(kCode + 0x10)->name, "exported");
  EXPECT_EQ(table->FindVaddr(kCode + 0x10)->offset, 0x08u);
}

TEST(SymbolTable, LeavesOutWhatIsNoCode) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  builder.AddSymbols(SHT_SYMTAB, {{"file", kCode, 0x10, STB_LOCAL, STT_FILE},
                                  {"section", kCode, 0x10, STB_LOCAL, STT_SECTION},
                                  {"tls", kCode, 0x10, STB_GLOBAL, STT_TLS},
                                  {"undefined", kCode, 0x10, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
                                  {"", kCode, 0x10},
                                  {"data", kCode + 0x5000, 0x10, STB_GLOBAL, STT_OBJECT}});
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(table->range_count(), 0u);
}

TEST(SymbolTable, KeepsEachNameOnce) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  const std::string name(1000, 'n');
  builder.AddSymbols(SHT_SYMTAB, {{name, kCode, 0x10}, {name, kCode + 0x20, 0x10}});
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(table->range_count(), 2u);
  EXPECT_LT(table->bytes(), 1500u);
  EXPECT_GT(table->bytes(), 1000u);
}

TEST(SymbolTable, RefusesMoreThanItsLimits) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x100);
  builder.AddSymbols(SHT_SYMTAB, {{"a", kCode, 0x10}, {"b", kCode + 0x20, 0x10}});
  std::string bytes = builder.Build();
  EXPECT_EQ(Load(bytes, {.max_symbols = 1}).error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(Load(bytes, {.max_name_bytes = 3}).error().code(), ErrorCode::kExhausted);
  EXPECT_TRUE(Load(bytes, {.max_symbols = 2, .max_name_bytes = 4}));
}

class MiniDebuginfo : public ::testing::Test {
 protected:
  static std::string Outer(const std::string& packed) {
    ElfBuilder builder;
    builder.AddCode(kCode, 0x100);
    builder.AddSymbols(SHT_DYNSYM, {{"exported", kCode, 0x10}});
    builder.AddSection(".gnu_debugdata", SHT_PROGBITS, packed);
    return builder.Build();
  }
  static std::string Inner() {
    ElfBuilder builder;
    builder.AddCode(kCode, 0x100);
    builder.AddSymbols(SHT_SYMTAB, {{"internal", kCode + 0x10, 0x10, STB_LOCAL}});
    return builder.Build();
  }
};

TEST_F(MiniDebuginfo, NamesWhatDynsymDoesNot) {
  auto table = Load(Outer(PackXz(Inner()))).value();
  EXPECT_EQ(table->FindVaddr(kCode)->name, "exported");
  EXPECT_EQ(table->FindVaddr(kCode + 0x10)->name, "internal");
}

TEST_F(MiniDebuginfo, OfWhateverDamageLeavesDynsymAlone) {
  const std::string packed = PackXz(Inner());
  auto only_dynsym = [](const std::string& bytes, const LoadLimits& limits = {}) {
    auto table = Load(Outer(bytes), limits).value();
    EXPECT_EQ(table->FindVaddr(kCode)->name, "exported");
    EXPECT_FALSE(table->FindVaddr(kCode + 0x10));
  };
  only_dynsym("");
  only_dynsym("no xz");
  only_dynsym(PackXz("no ELF"));
  only_dynsym(packed, {.max_debugdata_bytes = 100});
  only_dynsym(packed, {.max_lzma_memory_bytes = 1000});
  for (size_t length = 0; length < packed.size(); ++length) only_dynsym(packed.substr(0, length));
}

TEST_F(MiniDebuginfo, ExactlyAtItsLimitIsTaken) {
  auto table =
      Load(Outer(PackXz(Inner())), {.max_debugdata_bytes = static_cast<uint32_t>(Inner().size())});
  EXPECT_TRUE(table.value()->FindVaddr(kCode + 0x10));
}

TEST(LoadElfSymbols, EveryPrefixOfAFileLoadsOrFailsCleanly) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x40);
  builder.AddSymbols(SHT_SYMTAB, {{"a", kCode, 0x10}, {"label", kCode + 0x20, 0}});
  builder.AddSymbols(SHT_DYNSYM, {{"b", kCode, 0x10}});
  const std::string bytes = builder.Build();
  for (size_t length = 0; length < bytes.size(); ++length) {
    // The section headers come last: no prefix holds them all.
    EXPECT_FALSE(Load(bytes.substr(0, length)));
  }
  EXPECT_TRUE(Load(bytes));
}

TEST(LoadElfSymbols, AnyByteMayBeWrong) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x40);
  builder.AddSymbols(SHT_SYMTAB, {{"a", kCode, 0x10}, {"label", kCode + 0x20, 0}});
  const std::string bytes = builder.Build();
  size_t loaded = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at >= 0x100 && at < kOffset) continue;  // padding
    for (int value : {0x00, 0x7f, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      auto table = Load(damaged);
      if (!table) continue;
      ++loaded;
      for (uint64_t offset = 0; offset < bytes.size(); offset += 16) table.value()->Find(offset);
    }
  }
  EXPECT_GT(loaded, 0u);
}

TEST(LoadElfSymbols, SaysWhatItDoesNotRead) {
  std::string script = "#!/bin/sh\n" + std::string(100, ' ');
  EXPECT_EQ(Load(script).error().code(), ErrorCode::kUnsupported);
  ElfBuilder builder;
  builder.AddCode(kCode, 0x40);
  std::string bytes = builder.Build();
  std::string elf32 = bytes;
  elf32[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(Load(elf32).error().code(), ErrorCode::kUnsupported);
  std::string object = bytes;
  object[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
  EXPECT_EQ(Load(object).error().code(), ErrorCode::kUnsupported);
}

TEST(LoadElfSymbols, AFileWithoutSymbolsIsAnEmptyTable) {
  ElfBuilder builder;
  builder.AddCode(kCode, 0x40);
  auto table = Load(builder.Build()).value();
  EXPECT_EQ(table->range_count(), 0u);
  EXPECT_FALSE(table->FindVaddr(kCode));
}

TEST(FormatUnknown, SpellsModuleAndOffset) {
  EXPECT_EQ(FormatUnknown("libssl.so.3", 0x1f2a0), "[libssl.so.3]+0x1f2a0");
  EXPECT_EQ(FormatUnknown("[vdso]", 0x10), "[vdso]+0x10");
  EXPECT_EQ(FormatUnknown("", 0), "[]+0x0");
}

}  // namespace
}  // namespace firetower::symbolizer
