// SPDX-License-Identifier: Apache-2.0
// Random symbol tables, every address: libdwfl, the library behind eu-addr2line, is the judge.
#include <elfutils/libdwfl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <random>

#include "symbolizer/symbol_table.h"
#include "tests/unit/symbolizer/support/elf_builder.h"
#include "tests/unit/symbolizer/support/xz.h"

namespace firetower::symbolizer {
namespace {

constexpr uint64_t kCodeStart = 0x1000;
constexpr uint64_t kFirstSize = 0x60;
constexpr uint64_t kGap = 0x10;  // between the two code sections
constexpr uint64_t kCodeEnd = kCodeStart + kFirstSize + kGap + 0x40;

class Dwfl1 {
 public:
  explicit Dwfl1(const std::string& path) : dwfl_(dwfl_begin(&kCallbacks), dwfl_end) {
    dwfl_report_begin(dwfl_.get());
    module_ = dwfl_report_offline(dwfl_.get(), "fixture", path.c_str(), -1);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  }
  bool ok() const { return module_ != nullptr; }
  std::string NameOf(uint64_t elf_vaddr) const {
    Dwarf_Addr start = 0;
    dwfl_module_info(module_, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
    // Offline modules of type ET_DYN are placed where libdwfl likes; the code's page is their
    // first.
    Dwarf_Addr bias = start - kCodeStart;
    const char* name = dwfl_module_addrname(module_, elf_vaddr + bias);
    return name != nullptr ? name : "??";
  }

 private:
  static const Dwfl_Callbacks kCallbacks;
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> dwfl_;
  Dwfl_Module* module_ = nullptr;
};
const Dwfl_Callbacks Dwfl1::kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                         GElf_Word, char**) { return -1; },
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr};

std::vector<ElfBuilder::TestSymbol> RandomSymbols(std::mt19937& random, size_t count) {
  static constexpr unsigned char kBindings[] = {STB_GLOBAL, STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE};
  static constexpr unsigned char kTypes[] = {STT_FUNC, STT_NOTYPE, STT_OBJECT, STT_GNU_IFUNC};
  std::vector<ElfBuilder::TestSymbol> symbols;
  size_t locals = random() % (count + 1);
  for (size_t i = 0; i < count; ++i) {
    ElfBuilder::TestSymbol symbol;
    symbol.name = "s" + std::to_string(i);
    symbol.binding = i < locals ? STB_LOCAL : kBindings[random() % 4];
    symbol.type = kTypes[random() % 4];
    symbol.section = random() % 2 == 0 ? 1 : 2;
    uint64_t base = symbol.section == 1 ? kCodeStart : kCodeStart + kFirstSize + kGap;
    symbol.value = base + random() % 0x40;
    symbol.size = random() % 3 == 0 ? 0 : random() % 0x30;
    symbols.push_back(symbol);
  }
  return symbols;
}

// Returns libdwfl's name of every address.
std::vector<std::string> NamesByLibdwfl(const std::string& bytes) {
  char path[] = "/tmp/firetower-overlap-XXXXXX";
  ::close(mkstemp(path));
  std::ofstream(path, std::ios::binary) << bytes;
  std::vector<std::string> names;
  Dwfl1 judge(path);
  EXPECT_TRUE(judge.ok()) << dwfl_errmsg(-1);
  for (uint64_t elf_vaddr = kCodeStart; judge.ok() && elf_vaddr < kCodeEnd; ++elf_vaddr) {
    names.push_back(judge.NameOf(elf_vaddr));
  }
  ::unlink(path);
  return names;
}

void ExpectNames(const std::string& bytes, const std::vector<std::string>& expected,
                 const std::string& what) {
  ASSERT_EQ(expected.size(), kCodeEnd - kCodeStart);
  auto table = LoadElfSymbols(MemorySource(std::as_bytes(std::span(bytes)))).value();
  for (uint64_t elf_vaddr = kCodeStart; elf_vaddr < kCodeEnd; ++elf_vaddr) {
    // libdwfl counts the first byte after a section as part of it, for the sake of line tables.
    if (elf_vaddr == kCodeStart + kFirstSize) continue;
    auto symbol = table->FindVaddr(elf_vaddr);
    std::string name = symbol ? std::string(symbol->name) : "??";
    ASSERT_EQ(name, expected[elf_vaddr - kCodeStart]) << what << " at " << std::hex << elf_vaddr;
  }
}

void ExpectLibdwflAgrees(const ElfBuilder& builder, const std::string& what) {
  const std::string bytes = builder.Build();
  ExpectNames(bytes, NamesByLibdwfl(bytes), what);
}

TEST(SymbolOverlap, PicksTheSymbolThatLibdwflPicks) {
  std::mt19937 random(7);
  for (int round = 0; round < 600; ++round) {
    ElfBuilder builder;
    builder.AddCode(kCodeStart, kFirstSize);
    builder.AddCode(kCodeStart + kFirstSize + kGap, 0x40);
    builder.AddSymbols(SHT_SYMTAB, RandomSymbols(random, 1 + random() % 14));
    ExpectLibdwflAgrees(builder, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(SymbolOverlap, PicksTheSymbolThatLibdwflPicksFromDynsymAndMiniDebuginfo) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    ElfBuilder inner;
    ElfBuilder outer;
    for (ElfBuilder* builder : {&inner, &outer}) {
      builder->AddCode(kCodeStart, kFirstSize);
      builder->AddCode(kCodeStart + kFirstSize + kGap, 0x40);
    }
    std::vector<ElfBuilder::TestSymbol> symbols = RandomSymbols(random, 1 + random() % 14);
    for (auto& symbol : symbols) symbol.name = "inner_" + symbol.name;
    inner.AddSymbols(SHT_SYMTAB, symbols);
    outer.AddSymbols(SHT_DYNSYM, RandomSymbols(random, 1 + random() % 14));
    outer.AddSection(".gnu_debugdata", SHT_PROGBITS, PackXz(inner.Build()));
    ExpectLibdwflAgrees(outer, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

// libdwfl reads one of the two; each of them alone tells what it would say of it.
TEST(SymbolOverlap, NamesFromDynsymOnlyWhatSymtabLeavesOut) {
  std::mt19937 random(13);
  size_t filled = 0;
  for (int round = 0; round < 300; ++round) {
    ElfBuilder both;
    ElfBuilder full;
    ElfBuilder dynamic;
    for (ElfBuilder* builder : {&both, &full, &dynamic}) {
      builder->AddCode(kCodeStart, kFirstSize);
      builder->AddCode(kCodeStart + kFirstSize + kGap, 0x40);
    }
    const auto symbols = RandomSymbols(random, 1 + random() % 8);
    auto others = RandomSymbols(random, 1 + random() % 8);
    for (auto& other : others) {
      other.name = "dynamic_" + other.name;
      other.size += other.size == 0 ? 1 : 0;
      if (other.binding == STB_LOCAL) other.binding = STB_GLOBAL;
    }
    // Some of them are the same, as all are where nothing was stripped.
    for (size_t i = 0; i < others.size() && i < symbols.size(); i += 2) {
      others[i].value = symbols[i].value;
      others[i].size = std::max<uint64_t>(symbols[i].size, 1);
    }
    full.AddSymbols(SHT_SYMTAB, symbols);
    both.AddSymbols(SHT_SYMTAB, symbols);
    dynamic.AddSymbols(SHT_DYNSYM, others);
    both.AddSymbols(SHT_DYNSYM, others);
    std::vector<std::string> expected = NamesByLibdwfl(full.Build());
    const std::vector<std::string> rest = NamesByLibdwfl(dynamic.Build());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] != "??" || rest[i] == "??") continue;
      expected[i] = rest[i];
      ++filled;
    }
    ExpectNames(both.Build(), expected, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(filled, 1000u);
}

TEST(SymbolOverlap, HandlesMoreContendersThanItTakes) {
  std::vector<ElfBuilder::TestSymbol> symbols;
  for (int i = 0; i < 1000; ++i) {
    symbols.push_back({"s" + std::to_string(i), kCodeStart, kFirstSize});
  }
  ElfBuilder builder;
  builder.AddCode(kCodeStart, kFirstSize);
  builder.AddSymbols(SHT_SYMTAB, symbols);
  std::string bytes = builder.Build();
  auto table = LoadElfSymbols(MemorySource(std::as_bytes(std::span(bytes)))).value();
  EXPECT_EQ(table->FindVaddr(kCodeStart + 5)->name, "s0");
}

}  // namespace
}  // namespace firetower::symbolizer
