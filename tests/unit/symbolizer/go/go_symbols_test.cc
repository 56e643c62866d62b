// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_symbols.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>

#include "symbolizer/demangle.h"
#include "symbolizer/symbol_table.h"
#include "tests/unit/symbolizer/support/go_builder.h"
#include "tests/unit/symbolizer/support/go_programs.h"

namespace firetower::symbolizer {
namespace {

std::string PathOf(const std::string& program) {
  return FIRETOWER_BINARY_DIR "/tests/go/" + program;
}

// The addresses of all functions by the symbol table of the program that was not stripped.
std::vector<uint64_t> FunctionsOf(const std::string& path) {
  std::vector<uint64_t> functions;
  auto output = OutputOf("nm --defined-only " + path);
  for (std::string line; std::getline(output, line);) {
    if (line.size() < 20 || (line[17] != 't' && line[17] != 'T')) continue;
    const uint64_t elf_vaddr = std::stoull(line, nullptr, 16);
    // Marks of the linker's, not functions.
    const std::string name = line.substr(19);
    if (name == "runtime.text" || name == "runtime.etext") continue;
    functions.push_back(elf_vaddr);
  }
  return functions;
}

// go tool addr2line reads .gopclntab with the standard library's debug/gosym: a name and a place
// for each address.
TEST(GoSymbols, AreWhatGosOwnToolPrints) {
  for (const char* program : {"plain", "stripped"}) {
    const std::string missing = MissingGoProgram(PathOf(program));
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  const std::vector<uint64_t> functions = FunctionsOf(PathOf("plain"));
  ASSERT_GT(functions.size(), 1500u);
  const std::string list = PathOf("addresses");
  std::ofstream addresses(list);
  for (uint64_t elf_vaddr : functions) {
    addresses << fmt::format("{:#x}\n{:#x}\n", elf_vaddr, elf_vaddr + 7);
  }
  addresses.close();
  auto output = OutputOf(FIRETOWER_GO " tool addr2line " + PathOf("stripped") + " < " + list);

  const FileSource source = FileSource::Open(PathOf("stripped")).value();
  const auto table = LoadElfSymbols(source).value();
  size_t compared = 0;
  for (uint64_t function : functions) {
    for (uint64_t elf_vaddr : {function, function + 7}) {
      std::string expected, place;
      ASSERT_TRUE(std::getline(output, expected) && std::getline(output, place));
      if (expected == "?") continue;
      auto symbol = table->FindVaddr(elf_vaddr);
      ASSERT_TRUE(symbol) << fmt::format("{:#x} ", elf_vaddr) << expected;
      ASSERT_EQ(symbol->name, expected) << fmt::format("{:#x}", elf_vaddr);
      // Go does not mangle.
      EXPECT_EQ(Demangle(symbol->name), expected);
      ++compared;
    }
  }
  EXPECT_GT(compared, 3000u);
}

// With .symtab nothing changes: its names, which tell instances of generic functions apart.
TEST(GoSymbols, GiveWayToSymtab) {
  const std::string missing = MissingGoProgram(PathOf("plain"));
  if (!missing.empty()) GTEST_SKIP() << missing;
  const FileSource source = FileSource::Open(PathOf("plain")).value();
  const auto table = LoadElfSymbols(source).value();
  auto output = OutputOf("nm --defined-only " + PathOf("plain"));
  size_t generic = 0;
  for (std::string line; std::getline(output, line);) {
    if (line.find(" main.total[go.shape") == std::string::npos) continue;
    auto symbol = table->FindVaddr(std::stoull(line, nullptr, 16));
    ASSERT_TRUE(symbol);
    EXPECT_EQ(symbol->name, line.substr(19));
    ++generic;
  }
  EXPECT_GT(generic, 0u);
}

TEST(GoSymbols, CountAgainstTheLimit) {
  TestGoFile file(TestGoFile::Version::kGo120);
  file.Add({.name = "main.a", .code = std::string(16, '\x90')});
  file.Add({.name = "main.b", .code = std::string(16, '\x90')});
  const std::string bytes = file.Build();
  const MemorySource source(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(LoadElfSymbols(source).value()->FindVaddr(TestGoFile::kCode + 17)->name, "main.b");
  EXPECT_EQ(LoadElfSymbols(source, {.max_symbols = 1}).error().code(), ErrorCode::kExhausted);
}

}  // namespace
}  // namespace firetower::symbolizer
