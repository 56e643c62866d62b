// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/file.h"
#include "tests/unit/symbolizer/support/go_builder.h"
#include "tests/unit/symbolizer/support/go_programs.h"

namespace firetower::symbolizer {
namespace {

using Names = std::vector<std::string>;

// A file's inlined calls, with what they need to live.
class Inlines {
 public:
  explicit Inlines(std::string bytes) : bytes_(std::move(bytes)), source_(AsBytes()) {
    auto file = ElfFile::Open(source_);
    if (!file) return;
    symbols_ = LoadElfSymbols(source_).value();
    frames_ = LoadGoInlines(*file, *symbols_);
  }
  const SourceFrames* frames() const { return frames_.get(); }
  Names At(uint64_t elf_vaddr) const {
    std::vector<SourceFrame> found;
    if (frames_) frames_->Find(elf_vaddr, found);
    Names names;
    for (const SourceFrame& frame : found) names.emplace_back(frame.name);
    return names;
  }
  // With the function itself where nothing is inlined.
  Names FramesAt(uint64_t elf_vaddr) const {
    Names names = At(elf_vaddr);
    if (!names.empty()) return names;
    if (auto symbol = symbols_->FindVaddr(elf_vaddr)) names.emplace_back(symbol->name);
    return names;
  }

 private:
  std::span<const std::byte> AsBytes() const { return std::as_bytes(std::span(bytes_)); }

  std::string bytes_;
  MemorySource source_;
  std::shared_ptr<const SymbolTable> symbols_;
  std::shared_ptr<const SourceFrames> frames_;
};

std::string PathOf(const std::string& program) {
  return FIRETOWER_BINARY_DIR "/tests/go/" + program;
}

class GoInlinesTest : public ::testing::TestWithParam<TestGoFile::Version> {};

// f is inlined at byte 9 and g into it, at byte 12.
TestGoFunction WithCalls() {
  return {.name = "main.main",
          .code = std::string(40, '\x90'),
          .inlined = {{-1, 10}, {0, 8}, {1, 4}, {-1, 18}},
          .tree = {{.name = "main.f", .parent_pc = 9}, {.name = "main.g", .parent_pc = 12}}};
}

TEST_P(GoInlinesTest, AreInnermostFirst) {
  TestGoFile file(GetParam());
  file.Add({.name = "main.before", .code = std::string(16, '\x90')});
  const uint64_t begin = file.Add(WithCalls());
  file.Add({.name = "main.behind", .code = std::string(16, '\x90')});
  const Inlines inlines(file.Build());
  ASSERT_NE(inlines.frames(), nullptr);
  EXPECT_EQ(inlines.At(begin + 9), Names());
  EXPECT_EQ(inlines.At(begin + 10), (Names{"main.f", "main.main"}));
  EXPECT_EQ(inlines.At(begin + 17), (Names{"main.f", "main.main"}));
  EXPECT_EQ(inlines.At(begin + 18), (Names{"main.g", "main.f", "main.main"}));
  EXPECT_EQ(inlines.At(begin + 22), Names());
  EXPECT_EQ(inlines.At(begin + 40), Names());
  EXPECT_EQ(inlines.At(begin - 1), Names());
  EXPECT_EQ(inlines.At(0), Names());
  EXPECT_GT(inlines.frames()->bytes(), 28u);
}

// Behind the table's end is padding, whatever the next function begins with.
TEST_P(GoInlinesTest, EndWithTheTable) {
  TestGoFile file(GetParam());
  const TestInlinedCall call = {.name = "main.f", .parent_pc = 0};
  const std::string code(16, '\x90');
  const uint64_t begin =
      file.Add({.name = "main.a", .code = code, .inlined = {{0, 8}}, .tree = {call}});
  file.Add({.name = "main.b", .code = code, .inlined = {{0, 16}}, .tree = {call}});
  const Inlines inlines(file.Build());
  EXPECT_FALSE(inlines.At(begin + 7).empty());
  EXPECT_EQ(inlines.At(begin + 8), Names());
  EXPECT_FALSE(inlines.At(begin + 16).empty());
}

TEST_P(GoInlinesTest, CallsOfItselfEnd) {
  TestGoFile file(GetParam());
  file.Add({.name = "main.main",
            .code = std::string(16, '\x90'),
            .inlined = {{0, 16}},
            .tree = {{.name = "main.f", .parent_pc = 5}}});
  EXPECT_EQ(Inlines(file.Build()).At(TestGoFile::kCode).size(), GoInlines::kMaxDepth + 1);
}

TEST_P(GoInlinesTest, AreNothingWhereNothingTells) {
  TestGoFile file(GetParam());
  file.Add({.name = "main.main", .code = std::string(16, '\x90'), .inlined = {{0, 16}}});
  EXPECT_EQ(Inlines(file.Build()).frames(), nullptr);  // no tree
  TestGoFile without(GetParam());
  without.Add({.name = "main.main", .code = std::string(16, '\x90')});
  EXPECT_EQ(Inlines(without.Build()).frames(), nullptr);
}

TEST_P(GoInlinesTest, AreNothingWhereNoTreeIsThatLong) {
  TestGoFile file(GetParam());
  file.Add({.name = "main.main",
            .code = std::string(16, '\x90'),
            .inlined = {{INT32_MAX / 2, 8}, {INT32_MAX, 8}},
            .tree = {{.name = "main.f", .parent_pc = 5}}});
  EXPECT_EQ(Inlines(file.Build()).frames(), nullptr);
}

TEST_P(GoInlinesTest, SurviveTruncation) {
  TestGoFile file(GetParam());
  const uint64_t begin = file.Add(WithCalls());
  const std::string table = file.BuildTable();
  const std::string trees = file.BuildFuncdata();
  for (size_t size = 0; size <= table.size(); ++size) {
    Inlines(file.BuildAround(table.substr(0, size), trees)).At(begin + 18);
  }
  for (size_t size = 0; size <= trees.size(); ++size) {
    Inlines(file.BuildAround(table, trees.substr(0, size))).At(begin + 18);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, GoInlinesTest,
                         ::testing::Values(TestGoFile::Version::kGo116, TestGoFile::Version::kGo118,
                                           TestGoFile::Version::kGo120),
                         VersionName);

// Formats a name like Go's runtime: instances of a generic function have one name.
std::string ForPrint(std::string name) {
  std::erase(name, ' ');
  const size_t open = name.find('[');
  const size_t close = name.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return name;
  return name.substr(0, open) + "[...]" + name.substr(close + 1);
}

struct ToldFrame {
  uint64_t elf_vaddr;
  std::string function;
};

// "4711 main.f /src/main.go 12": what the program's own runtime says of an address.
std::vector<ToldFrame> WhatItSays(const std::string& program, const std::string& question) {
  // Go's own linker puts even position-independent ones there.
  const uint64_t base = program == "external_pie" ? 0 : 0x400000;
  std::vector<ToldFrame> frames;
  auto output = OutputOf(PathOf(program) + " " + question + " 2>/dev/null");
  for (std::string line; std::getline(output, line);) {
    std::istringstream words(line);
    std::string address, function;
    words >> address >> function;
    frames.push_back({base + std::stoull(address, nullptr, 16), function});
  }
  return frames;
}

class GoProgramInlines : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string missing = MissingGoProgram(PathOf(GetParam()));
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_P(GoProgramInlines, BeginWithTheFunctionThatTheRuntimeNames) {
  const Inlines inlines(ReadFile(PathOf(GetParam()), 1u << 30).value());
  size_t inlined = 0;
  size_t compared = 0;
  int differences = 0;
  for (const ToldFrame& told : WhatItSays(GetParam(), "pcs")) {
    const Names names = inlines.FramesAt(told.elf_vaddr);
    ++compared;
    inlined += names.size() > 1;
    if (names.empty() || ForPrint(names.front()) != ForPrint(told.function)) {
      if (++differences < 10) {
        ADD_FAILURE() << fmt::format("{:#x}: {}, ours {}", told.elf_vaddr, told.function,
                                     names.empty() ? "none" : names.front());
      }
    }
  }
  EXPECT_EQ(differences, 0);
  EXPECT_GT(compared, 5000u);
  EXPECT_GT(inlined, 500u);
}

// main.outer calls middle and that inner, each inlined into the one before.
TEST_P(GoProgramInlines, AreTheCallsThatTheRuntimeWalks) {
  const Inlines inlines(ReadFile(PathOf(GetParam()), 1u << 30).value());
  const std::vector<ToldFrame> told = WhatItSays(GetParam(), "calls");
  ASSERT_GT(told.size(), 3u);
  Names expected;
  for (const ToldFrame& frame : told) {
    expected.push_back(frame.function);
    if (frame.function == "main.outer") break;
  }
  ASSERT_EQ(expected.size(), 3u);
  EXPECT_EQ(inlines.At(told.front().elf_vaddr), expected);
}

INSTANTIATE_TEST_SUITE_P(Programs, GoProgramInlines, ::testing::Values("stripped", "external_pie"),
                         [](const auto& instance) { return std::string(instance.param); });

// The inlined calls according to the DWARF of a program that was not stripped.
class InlinedSubroutines {
 public:
  explicit InlinedSubroutines(const std::string& path)
      : fd_(OpenReadOnly(path).value()), dwarf_(dwarf_begin(fd_.get(), DWARF_C_READ), dwarf_end) {
    Dwarf_CU* cu = nullptr;
    Dwarf_Die unit;
    while (dwarf_get_units(dwarf_.get(), cu, &cu, nullptr, nullptr, &unit, nullptr) == 0) {
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&unit, at, &base, &begin, &end)) > 0;) {
        units_[end] = {begin, unit};
      }
    }
  }

  Names At(uint64_t elf_vaddr) {
    const auto found = units_.upper_bound(elf_vaddr);
    if (found == units_.end() || elf_vaddr < found->second.first) return {};
    Dwarf_Die unit = found->second.second;
    // Not by dwarf_getscopes: where an inlined function is another unit's, it finds nothing and
    // forgets to free what it allocated.
    Names names;
    Dwarf_Die entry;
    for (Dwarf_Die parent = unit; dwarf_child(&parent, &entry) == 0; parent = entry) {
      while (dwarf_haspc(&entry, elf_vaddr) <= 0) {
        if (dwarf_siblingof(&entry, &entry) != 0) return names;
      }
      const int tag = dwarf_tag(&entry);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      const char* name = dwarf_diename(&entry);
      names.insert(names.begin(), name == nullptr ? "" : name);
    }
    return names;
  }

 private:
  UniqueFd fd_;
  std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf_;
  std::map<uint64_t, std::pair<uint64_t, Dwarf_Die>> units_;  // by end: begin and unit
};

TEST(GoProgramInlinesOfAll, AreThoseOfDwarf) {
  const std::string missing = MissingGoProgram(PathOf("plain"));
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Inlines inlines(ReadFile(PathOf("plain"), 1u << 30).value());
  InlinedSubroutines dwarf(PathOf("plain"));
  size_t equal = 0;
  size_t compared = 0;
  int shown = 0;
  for (const ToldFrame& told : WhatItSays("plain", "pcs")) {
    Names names = inlines.At(told.elf_vaddr);
    // The innermost one is what the test above is of; and looking is slow.
    if (names.size() <= 2) continue;
    Names expected = dwarf.At(told.elf_vaddr);
    if (expected.empty()) continue;
    for (Names* list : {&expected, &names}) {
      for (std::string& name : *list) name = ForPrint(name);
    }
    ++compared;
    equal += names == expected;
    if (names != expected && ++shown < 10) {
      std::cerr << fmt::format("{:#x}: {} | {}\n", told.elf_vaddr, fmt::join(expected, " < "),
                               fmt::join(names, " < "));
    }
  }
  EXPECT_GT(compared, 300u);
  // DWARF leaves out some instruction here and there: one in 476 with Go 1.26.
  EXPECT_GE(static_cast<double>(equal), 0.99 * static_cast<double>(compared));
}

}  // namespace
}  // namespace firetower::symbolizer
