// SPDX-License-Identifier: Apache-2.0
// Every row of real files beside elfutils' libdw, which reads the same records on its own.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <libelf.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/file.h"
#include "symbolizer/cfi/load_unwind_rows.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;

struct FreeDeleter {
  void operator()(void* memory) const { ::free(memory); }
};
struct ElfDeleter {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};

bool Is(const Dwarf_Op& op, unsigned atom) { return op.atom == atom; }
std::optional<unsigned> BaseRegister(const Dwarf_Op& op, int64_t& offset) {
  if (op.atom == DW_OP_bregx) {
    offset = static_cast<int64_t>(op.number2);
    return static_cast<unsigned>(op.number);
  }
  if (op.atom < DW_OP_breg0 || op.atom > DW_OP_breg31) return std::nullopt;
  offset = static_cast<int64_t>(op.number);
  return op.atom - DW_OP_breg0;
}

std::string Text(const Dwarf_Op* ops, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format(" {:#x}({},{})", ops[i].atom, static_cast<int64_t>(ops[i].number),
                        static_cast<int64_t>(ops[i].number2));
  }
  return text;
}

// Converts libdw's expression for the CFA into a rule.
void SetCfa(const Dwarf_Op* ops, size_t count, UnwindRule& rule) {
  rule.cfa = Cfa::kUnsupported;
  int64_t offset = 0;
  std::optional<unsigned> base = count > 0 ? BaseRegister(ops[0], offset) : std::nullopt;
  if (!base) return;
  rule.cfa_register = static_cast<uint8_t>(*base);
  rule.cfa_offset = static_cast<int32_t>(offset);
  if (count == 1) {
    rule.cfa = Cfa::kRegister;
  } else if (Is(ops[1], DW_OP_deref) && count == 2) {
    rule.cfa = Cfa::kDeref;
  } else if (Is(ops[1], DW_OP_deref) && count == 3 && Is(ops[2], DW_OP_plus_uconst)) {
    rule.cfa = Cfa::kDeref;
    rule.cfa_addend = static_cast<int32_t>(ops[2].number);
  } else if (count == 7 && Is(ops[1], DW_OP_breg9) && Is(ops[2], DW_OP_lit8) &&
             Is(ops[3], DW_OP_mul) && Is(ops[4], DW_OP_plus) && Is(ops[5], DW_OP_deref) &&
             Is(ops[6], DW_OP_plus_uconst)) {
    rule.cfa = Cfa::kIndexedDeref;
    rule.cfa_index_register = 9;
    rule.cfa_addend = static_cast<int32_t>(ops[6].number);
  } else if (count == 9 && Is(ops[1], DW_OP_breg16) && Is(ops[3], DW_OP_and)) {
    rule.cfa = Cfa::kPlt;
    rule.cfa_addend = static_cast<int32_t>(ops[4].atom - DW_OP_lit0);
  }
}

struct SavedRegister {
  Place place = Place::kUnsupported;
  uint8_t base = 0;
  int32_t offset = 0;
  bool operator==(const SavedRegister&) const = default;
};

SavedRegister Saved(Dwarf_Frame* frame, int number) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  EXPECT_EQ(dwarf_frame_register(frame, number, memory, &ops, &count), 0);
  int64_t offset = 0;
  if (count == 0) return {.place = ops == nullptr ? Place::kSame : Place::kUndefined};
  if (Is(ops[0], DW_OP_regx)) {
    return {.place = Place::kRegister, .base = static_cast<uint8_t>(ops[0].number)};
  }
  if (Is(ops[0], DW_OP_call_frame_cfa) && count == 1) return {.place = Place::kCfa};
  if (Is(ops[0], DW_OP_call_frame_cfa) && count == 2 && Is(ops[1], DW_OP_plus_uconst)) {
    return {.place = Place::kCfa, .offset = static_cast<int32_t>(ops[1].number)};
  }
  // DW_CFA_expression begins with the CFA on the stack; what it leaves there is an address.
  if (count != 2 || !Is(ops[0], DW_OP_call_frame_cfa)) return {};
  if (auto base = BaseRegister(ops[1], offset)) {
    return {Place::kDeref, static_cast<uint8_t>(*base), static_cast<int32_t>(offset)};
  }
  return {};
}

struct CfiDeleter {
  void operator()(Dwarf_CFI* cfi) const { ::dwarf_cfi_end(cfi); }
};
struct DwarfDeleter {
  void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
};

class LibdwComparison {
 public:
  LibdwComparison(Elf* elf, const std::vector<UnwindRow>& rows)
      : rows_(rows),
        eh_frame_(dwarf_getcfi_elf(elf)),
        dwarf_(dwarf_begin_elf(elf, DWARF_C_READ, nullptr)),
        debug_frame_(dwarf_ == nullptr ? nullptr : dwarf_getcfi(dwarf_.get())) {
    EXPECT_NE(eh_frame_, nullptr) << dwarf_errmsg(-1);
  }

  // Goes from row to row of libdw's, from our first row to our last.
  void Walk() {
    uint64_t elf_vaddr = rows_.front().elf_vaddr;
    const uint64_t end = rows_.back().elf_vaddr;
    while (elf_vaddr < end && differences_ < 10) {
      const UnwindRow& ours = RowAt(rows_, elf_vaddr);
      const uint64_t ours_end = EndOf(ours);
      uint64_t theirs_end = 0;
      if (Compare(elf_vaddr, ours, theirs_end)) {
        covered_until_ = theirs_end;
        // Rows before the next one of libdw's would say that something changes, where nothing does.
        if (ours_end < theirs_end) Differ(elf_vaddr, "libdw's row is longer");
        elf_vaddr = theirs_end;
      } else if (ours.rule.cfa == Cfa::kNone) {
        elf_vaddr = std::min(ours_end, elf_vaddr + 64);
      } else {
        if (elf_vaddr - covered_until_ > 15) Differ(elf_vaddr, "no FDE, and not padding");
        ++elf_vaddr;
      }
    }
  }
  uint64_t compared() const { return compared_; }
  uint64_t of_debug_frame() const { return of_debug_frame_; }

 private:
  uint64_t EndOf(const UnwindRow& row) const {
    const size_t next = static_cast<size_t>(&row - rows_.data()) + 1;
    return next < rows_.size() ? rows_[next].elf_vaddr : UINT64_MAX;
  }

  // False when libdw knows no FDE there.
  bool Compare(uint64_t elf_vaddr, const UnwindRow& row, uint64_t& end) {
    Dwarf_Frame* raw = nullptr;
    if (dwarf_cfi_addrframe(eh_frame_.get(), elf_vaddr, &raw) != 0) {
      if (debug_frame_ == nullptr || dwarf_cfi_addrframe(debug_frame_, elf_vaddr, &raw) != 0) {
        return false;
      }
      ++of_debug_frame_;
    }
    std::unique_ptr<Dwarf_Frame, FreeDeleter> frame(raw);
    ++compared_;
    Dwarf_Addr start = 0;
    bool signal = false;
    const int return_register = dwarf_frame_info(raw, &start, &end, &signal);
    const UnwindRule& ours = row.rule;
    UnwindRule theirs;
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    EXPECT_EQ(dwarf_frame_cfa(raw, &ops, &count), 0);
    SetCfa(ops, count, theirs);
    if (ours.cfa == Cfa::kUnsupported && theirs.cfa == Cfa::kUnsupported) return true;
    if (ours.cfa != theirs.cfa || ours.cfa_register != theirs.cfa_register ||
        ours.cfa_index_register != theirs.cfa_index_register ||
        ours.cfa_offset != theirs.cfa_offset || ours.cfa_addend != theirs.cfa_addend) {
      Differ(elf_vaddr, "CFA:" + Text(ops, count));
    }
    const SavedRegister rbp = {ours.rbp, ours.rbp_register, ours.rbp_offset};
    if (rbp != Saved(raw, kDwarfRbp)) Differ(elf_vaddr, "RBP");
    const SavedRegister return_address = {ours.return_address, ours.return_address_register,
                                          ours.return_address_offset};
    if (return_address != Saved(raw, return_register)) Differ(elf_vaddr, "return address");
    if (ours.signal_frame != signal) Differ(elf_vaddr, "signal frame");
    return true;
  }

  void Differ(uint64_t elf_vaddr, const std::string& what) {
    ++differences_;
    ADD_FAILURE() << fmt::format("{:#x}: {}; ours: ", elf_vaddr, what) << RowAt(rows_, elf_vaddr);
  }

  const std::vector<UnwindRow>& rows_;
  std::unique_ptr<Dwarf_CFI, CfiDeleter> eh_frame_;
  std::unique_ptr<Dwarf, DwarfDeleter> dwarf_;
  Dwarf_CFI* debug_frame_;  // dwarf_'s; may be null
  uint64_t covered_until_ = 0;
  uint64_t compared_ = 0;
  uint64_t of_debug_frame_ = 0;
  int differences_ = 0;
};

void CompareAll(const RandomAccess& source, Elf* elf, uint64_t min_of_debug_frame = 0) {
  ASSERT_NE(elf, nullptr) << elf_errmsg(-1);
  ElfFile file = ElfFile::Open(source).value();
  RowList rows;
  auto stats = LoadUnwindRows(file, rows);
  ASSERT_TRUE(stats) << stats.error().message();
  ASSERT_FALSE(rows.rows.empty());
  EXPECT_EQ(stats->bad_fdes(), 0u);
  EXPECT_EQ(stats->rows, rows.rows.size());
  LibdwComparison comparison(elf, rows.rows);
  comparison.Walk();
  EXPECT_EQ(comparison.compared(), stats->raw_rows);
  EXPECT_GE(comparison.of_debug_frame(), min_of_debug_frame);
}

class LibdwTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LibdwTest, AgreesOnEveryRow) {
  if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not installed";
  ASSERT_NE(elf_version(EV_CURRENT), static_cast<unsigned>(EV_NONE));
  FileSource source = FileSource::Open(GetParam()).value();
  std::unique_ptr<Elf, ElfDeleter> elf(elf_begin(source.fd(), ELF_C_READ_MMAP, nullptr));
  CompareAll(source, elf.get());
}

INSTANTIATE_TEST_SUITE_P(Files, LibdwTest,
                         ::testing::Values("/lib/x86_64-linux-gnu/libc.so.6",
                                           "/lib64/ld-linux-x86-64.so.2",
                                           "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                           "/usr/bin/python3", "/usr/bin/node", "/usr/sbin/nginx",
                                           "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
                                           "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"),
                         [](const auto& instance) {
                           std::string name =
                               std::filesystem::path(instance.param).filename().string();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(LibdwDebugFrameTest, AgreesOnEveryRow) {
  const std::string path = FIRETOWER_BINARY_DIR "/tests/cfi_debug_frame_program";
  ASSERT_NE(elf_version(EV_CURRENT), static_cast<unsigned>(EV_NONE));
  FileSource source = FileSource::Open(path).value();
  std::unique_ptr<Elf, ElfDeleter> elf(elf_begin(source.fd(), ELF_C_READ_MMAP, nullptr));
  CompareAll(source, elf.get(), 5);
}

TEST(LibdwVdsoTest, AgreesOnEveryRow) {
  const uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) GTEST_SKIP() << "this kernel maps no vdso";
  // Its section headers are its last bytes.
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(start);
  const size_t bytes = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
  MemorySource source({reinterpret_cast<const std::byte*>(start), bytes});
  ASSERT_NE(elf_version(EV_CURRENT), static_cast<unsigned>(EV_NONE));
  std::unique_ptr<Elf, ElfDeleter> elf(elf_memory(reinterpret_cast<char*>(start), bytes));
  CompareAll(source, elf.get());
}

}  // namespace
}  // namespace firetower::symbolizer
