// SPDX-License-Identifier: Apache-2.0
// The rows of programs built by Go's own toolchain, beside what its linker says in .debug_frame (as
// libdw reads it) and beside the instructions that its disassembler shows.
#include "tests/unit/symbolizer/support/go_programs.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/file.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;

std::string PathOf(const std::string& program) {
  return FIRETOWER_BINARY_DIR "/tests/go/" + program;
}

std::vector<UnwindRow> RowsOf(const std::string& path) {
  std::string bytes = ReadFile(path, 1u << 30).value();
  LoadedRows loaded = LoadRows(bytes);
  EXPECT_TRUE(loaded.status);
  EXPECT_GT(loaded.stats.go_functions, 1000u);
  EXPECT_EQ(loaded.stats.bad_go_functions, 0u);
  return loaded.rows;
}

// The names that the program's own symbol table gives to addresses.
std::map<std::string, uint64_t> SymbolsOf(const std::string& path) {
  std::map<std::string, uint64_t> symbols;
  auto output = OutputOf("nm --defined-only " + path);
  for (std::string line; std::getline(output, line);) {
    if (line.size() < 20 || (line[17] != 't' && line[17] != 'T')) continue;
    symbols[line.substr(19)] = std::stoull(line, nullptr, 16);
  }
  return symbols;
}

class DebugFrame {
 public:
  explicit DebugFrame(const std::string& path)
      : fd_(OpenReadOnly(path).value()),
        dwarf_(dwarf_begin(fd_.get(), DWARF_C_READ), dwarf_end),
        cfi_(dwarf_getcfi(dwarf_.get())) {}

  // The CFA's distance from RSP, and in `end` where it changes; nothing outside of Go's functions.
  std::optional<int64_t> Find(uint64_t elf_vaddr, uint64_t& end) {
    Dwarf_Frame* raw = nullptr;
    if (cfi_ == nullptr || dwarf_cfi_addrframe(cfi_, elf_vaddr, &raw) != 0) return std::nullopt;
    std::unique_ptr<Dwarf_Frame, void (*)(void*)> frame(raw, ::free);
    Dwarf_Addr start = 0;
    bool signal = false;
    dwarf_frame_info(raw, &start, &end, &signal);
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(raw, &ops, &count) != 0 || count != 1) return std::nullopt;
    if (ops[0].atom == DW_OP_bregx && ops[0].number == 7) {
      return static_cast<int64_t>(ops[0].number2);
    }
    if (ops[0].atom == DW_OP_breg7) return static_cast<int64_t>(ops[0].number);
    return std::nullopt;
  }

 private:
  UniqueFd fd_;
  std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf_;
  Dwarf_CFI* cfi_;
};

// Since Go 1.21 RBP is pushed; before, it was stored in a frame that was already made. (Stored
// below RSP it is for a call of duffzero or duffcopy in the midst of a function.)
bool SetsFramePointer(const std::string& before, const std::string& text) {
  if (before == "PUSHQ BP") return text == "MOVQ SP, BP";
  return before.starts_with("MOVQ BP, 0") && before.ends_with("(SP)") &&
         text == "LEAQ " + before.substr(9) + ", BP";
}

bool FreesFrame(const std::string& last) {
  return last == "POPQ BP" || (last.starts_with("ADDQ $") && last.ends_with(", SP"));
}

class GoProgram : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string missing = MissingGoProgram(PathOf(GetParam()));
    if (!missing.empty()) GTEST_SKIP() << missing;
    path_ = PathOf(GetParam());
  }
  std::string path_;
};

TEST_P(GoProgram, HasTheStackDepthsOfDebugFrame) {
  const std::vector<UnwindRow> rows = RowsOf(path_);
  DebugFrame debug_frame(path_);
  uint64_t compared = 0;
  uint64_t special = 0;
  int differences = 0;
  uint64_t elf_vaddr = SymbolsOf(path_).at("runtime.text");
  const uint64_t end = SymbolsOf(path_).at("runtime.etext");
  while (elf_vaddr < end && differences < 10) {
    uint64_t next = elf_vaddr + 1;
    const std::optional<int64_t> offset = debug_frame.Find(elf_vaddr, next);
    ASSERT_GT(next, elf_vaddr);
    for (uint64_t at : {elf_vaddr, next - 1}) {
      const UnwindRow& ours = RowAt(rows, at);
      // Roots, functions that change stacks, and the kernel's frame: what .debug_frame cannot say.
      const bool as_usual = ours.rule.cfa == Cfa::kRegister && ours.rule.cfa_register == 7 &&
                            ours.rule.return_address == Place::kCfa;
      if (!offset) continue;
      if (!as_usual) {
        ++special;
      } else if (ours.rule.cfa_offset != *offset && ++differences < 10) {
        ADD_FAILURE() << fmt::format("{:#x}: {} in .debug_frame; ours: ", at, *offset) << ours;
      }
      ++compared;
    }
    elf_vaddr = next;
  }
  EXPECT_GT(compared, 10'000u);
  EXPECT_LT(special, 150u);
}

// "  main.go:12  0x401000  55  PUSHQ BP": the frame pointer's life as the instructions have it.
TEST_P(GoProgram, SavesRbpWhereTheInstructionsDo) {
  const std::vector<UnwindRow> rows = RowsOf(path_);
  auto output = OutputOf(FIRETOWER_GO " tool objdump " + path_ + " 2>/dev/null");
  uint64_t prologues = 0;
  uint64_t epilogues = 0;
  std::string text;
  std::string before;
  std::string function;
  uint64_t before_at = 0;
  int differences = 0;
  for (std::string line; std::getline(output, line) && differences < 10;) {
    if (line.starts_with("TEXT ")) {
      function = line.substr(5, line.find('(') - 5);
      before.clear();
      continue;
    }
    std::istringstream words(line);
    std::string place, address, code;
    if (!(words >> place >> address >> code) || !address.starts_with("0x")) continue;
    std::getline(words >> std::ws, text);
    text.erase(text.find_last_not_of(" \t") + 1);
    const uint64_t at = std::stoull(address, nullptr, 16);
    const UnwindRule& rule = RowAt(rows, at).rule;
    // gcc restores RBP without saying so: a name of Go's has a dot.
    const bool of_go =
        function.find('.') != std::string::npos && rule.return_address != Place::kUndefined;
    if (of_go && SetsFramePointer(before, text)) {
      ++prologues;
      const bool saved = rule.rbp == Place::kCfa && rule.rbp_offset == -16;
      const bool was_not = RowAt(rows, before_at).rule.rbp == Place::kSame;
      if (!saved || !was_not) {
        ++differences;
        ADD_FAILURE() << function << ": " << line;
      }
    }
    if (of_go && text == "RET" && FreesFrame(before)) {
      ++epilogues;
      if (rule.rbp != Place::kSame) {
        ++differences;
        ADD_FAILURE() << function << ": " << line;
      }
    }
    before = text;
    before_at = at;
  }
  EXPECT_GT(prologues, 800u);
  EXPECT_GT(epilogues, 800u);
}

TEST_P(GoProgram, EndsAndCrossesStacksWhereTheRuntimeDoes) {
  const std::vector<UnwindRow> rows = RowsOf(path_);
  auto symbols = SymbolsOf(path_);
  auto rule_at = [&](const std::string& name, uint64_t behind) {
    EXPECT_TRUE(symbols.contains(name)) << name;
    return RowAt(rows, symbols[name] + behind).rule;
  };
  // A goroutine's first return address is behind goexit's first byte, a nop.
  EXPECT_EQ(rule_at("runtime.goexit.abi0", 0).return_address, Place::kUndefined);
  EXPECT_EQ(rule_at("runtime.mstart.abi0", 5).return_address, Place::kUndefined);
  EXPECT_EQ(rule_at("runtime.rt0_go.abi0", 100).return_address, Place::kUndefined);
  if (FIRETOWER_GO_MINOR >= 21) {
    EXPECT_EQ(rule_at("runtime.systemstack.abi0", 40).cfa, Cfa::kOtherStack);
    EXPECT_EQ(rule_at("runtime.asmcgocall.abi0", 40).cfa, Cfa::kOtherStack);
  }
  EXPECT_EQ(rule_at("runtime.mcall", 10).return_address, Place::kCfa);
  // One byte before the place that the kernel is told to return to, as glibc has it.
  const char* signal_return = symbols.contains("runtime.sigreturn.abi0")
                                  ? "runtime.sigreturn.abi0"
                                  : "runtime.sigreturn__sigaction.abi0";
  for (uint64_t behind : {UINT64_MAX, uint64_t{0}, uint64_t{8}}) {
    const UnwindRule rule = rule_at(signal_return, behind);
    EXPECT_TRUE(rule.signal_frame);
    EXPECT_EQ(rule.return_address, Place::kDeref);
    EXPECT_EQ(rule.return_address_offset, 168);  // ucontext.uc_mcontext.gregs[REG_RIP]
  }
  EXPECT_TRUE(rule_at("runtime.asyncPreempt.abi0", 9).signal_frame);
}

INSTANTIATE_TEST_SUITE_P(Programs, GoProgram, ::testing::Values("plain", "pie", "cgo"),
                         [](const auto& instance) { return std::string(instance.param); });

// The linker leaves out tables of names, and the code is the same.
TEST(GoProgramStripped, HasTheRowsOfTheWholeOne) {
  if (!MissingGoProgram(PathOf("stripped")).empty()) {
    GTEST_SKIP() << MissingGoProgram(PathOf("stripped"));
  }
  std::string bytes = ReadFile(PathOf("stripped"), 1u << 30).value();
  const LoadedRows stripped = LoadRows(bytes);
  EXPECT_GT(stripped.rows.size(), 5000u);
  EXPECT_EQ(stripped.rows, RowsOf(PathOf("plain")));
  // Nor are section headers needed.
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_EQ(LoadRows(bytes).rows, stripped.rows);
}

// cgo: gcc's functions from .eh_frame, Go's from .gopclntab, which has no section of its own here.
TEST(GoProgramExternal, HasRowsOfBothCompilers) {
  const std::string path = PathOf("external_pie");
  if (!MissingGoProgram(path).empty()) GTEST_SKIP() << MissingGoProgram(path);
  const std::string bytes = ReadFile(path, 1u << 30).value();
  const LoadedRows loaded = LoadRows(bytes);
  EXPECT_GT(loaded.stats.go_functions, 1000u);
  EXPECT_GT(loaded.stats.fdes, 10u);
  EXPECT_GT(loaded.rows.size(), 5000u);
  EXPECT_EQ(loaded.rows.back().rule.cfa, Cfa::kNone);
}

}  // namespace
}  // namespace firetower::symbolizer
