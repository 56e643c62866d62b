// SPDX-License-Identifier: Apache-2.0
// The packed table against the rows it was made of: at each address the walk takes the step that
// the row there describes, on the binaries of this machine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "daemon/process/module.h"
#include "daemon/unwind/arena.h"
#include "daemon/unwind/module_tables.h"
#include "daemon/unwind/native_walk.h"
#include "daemon/unwind/table_packer.h"
#include "symbolizer/cfi/load_unwind_rows.h"
#include "symbolizer/elf/elf_file.h"
#include "tests/support/fake_unwind_memory.h"

namespace firetower::daemon {
namespace {

using symbolizer::UnwindRow;
using symbolizer::UnwindRule;

constexpr uint32_t kModule = 7;
constexpr uint64_t kStackBegin = 0x7ffd'0000'0000;
constexpr size_t kStackBytes = 1u << 20;
constexpr uint64_t kSp = kStackBegin + kStackBytes / 2;
constexpr uint64_t kBp = kSp + 4096;
constexpr uint64_t kLoadBias = 0x5555'0000'0000;

// Keeps the rows and passes them on.
class Tee : public symbolizer::UnwindRowSink {
 public:
  explicit Tee(TablePacker& packer) : packer_(packer) {}
  void OnRow(const UnwindRow& row) override {
    rows.push_back(row);
    packer_.OnRow(row);
  }
  std::vector<UnwindRow> rows;

 private:
  TablePacker& packer_;
};

// A stack in which every word tells where it is, as an address that may be code.
uint64_t WordAt(uint64_t address) { return 0x10'0000'0000 + (address - kStackBegin); }

struct Caller {
  uint64_t cfa = 0;
  uint64_t bp = 0;
  uint64_t ip = 0;
  bool operator==(const Caller&) const = default;
};

// Evaluates a row from its definition; nullopt if it says nothing that the walk has a form
// for.
std::optional<Caller> ByRow(const UnwindRule& rule, uint64_t pc) {
  auto value = [](uint8_t number) { return number == symbolizer::kDwarfRsp ? kSp : kBp; };
  auto known = [](uint8_t number) {
    return number == symbolizer::kDwarfRsp || number == symbolizer::kDwarfRbp;
  };
  Caller caller;
  switch (rule.cfa) {
    case UnwindRule::Cfa::kRegister:
      if (!known(rule.cfa_register)) return std::nullopt;
      caller.cfa = value(rule.cfa_register) + static_cast<uint64_t>(int64_t{rule.cfa_offset});
      break;
    case UnwindRule::Cfa::kDeref:
      if (!known(rule.cfa_register)) return std::nullopt;
      caller.cfa =
          WordAt(value(rule.cfa_register) + static_cast<uint64_t>(int64_t{rule.cfa_offset})) +
          static_cast<uint64_t>(int64_t{rule.cfa_addend});
      break;
    case UnwindRule::Cfa::kPlt:
      caller.cfa = kSp + 8 + (static_cast<int32_t>(pc & 15) >= rule.cfa_addend ? 8 : 0);
      break;
    default:
      return std::nullopt;
  }
  auto in_cfa = [&](int32_t offset) {
    return WordAt(caller.cfa + static_cast<uint64_t>(int64_t{offset}));
  };
  auto at = [&](uint8_t number, int32_t offset) {
    return WordAt(value(number) + static_cast<uint64_t>(int64_t{offset}));
  };
  if (rule.return_address == UnwindRule::Place::kCfa && rule.return_address_offset == -8) {
    caller.ip = in_cfa(-8);
  } else if (rule.return_address == UnwindRule::Place::kDeref &&
             rule.return_address_register == symbolizer::kDwarfRsp) {
    caller.ip = at(rule.return_address_register, rule.return_address_offset);
  } else {
    return std::nullopt;
  }
  caller.bp = kBp;
  if (rule.rbp == UnwindRule::Place::kCfa) caller.bp = in_cfa(rule.rbp_offset);
  if (rule.rbp == UnwindRule::Place::kDeref && known(rule.rbp_register)) {
    caller.bp = at(rule.rbp_register, rule.rbp_offset);
  }
  return caller;
}

class PackedTableTest : public ::testing::TestWithParam<const char*> {
 protected:
  PackedTableTest() : stack_(kStackBytes / 8) {
    for (size_t i = 0; i < stack_.size(); ++i) stack_[i] = WordAt(kStackBegin + i * 8);
  }

  std::optional<Caller> ByWalk(uint64_t file_offset) {
    WalkMemory memory;
    memory.arena = memory_.arena();
    memory.arena_bytes = uint64_t{memory_.max_slabs()} * FT_SLAB_BYTES;
    memory.modules = memory_.modules();
    memory.stack_begin = kStackBegin;
    memory.stack = std::as_bytes(std::span(stack_));
    ft_walk walk{};
    walk.ip = kLoadBias + file_offset;
    walk.sp = kSp;
    walk.bp = kBp;
    walk.begin = kLoadBias;
    walk.end = ~uint64_t{0};
    walk.bias = kLoadBias;
    walk.module = memory_.modules()[kModule];
    std::vector<uint64_t> addresses;
    if (WalkOn(memory, walk, 1, addresses) != FT_STEP_ENDED || walk.stop != FT_STOP_DEPTH) {
      return std::nullopt;
    }
    if (walk.guessed != 0) return std::nullopt;
    return Caller{walk.sp, walk.bp, walk.ip};
  }

  FakeClock clock_{1, 1};
  testing::FakeUnwindMemory memory_{64};
  Arena arena_{memory_, 64u << 20};
  ModuleTables tables_{memory_, arena_, 64u << 20, clock_};
  std::vector<uint64_t> stack_;
};

TEST_P(PackedTableTest, StepsAsItsRowsSay) {
  if (::access(GetParam(), R_OK) != 0) GTEST_SKIP() << GetParam() << " is not on this machine";
  auto source = symbolizer::FileSource::Open(GetParam());
  ASSERT_TRUE(source);
  auto file = symbolizer::ElfFile::Open(*source);
  ASSERT_TRUE(file);
  TablePacker packer(file->program_headers());
  Tee tee(packer);
  ASSERT_TRUE(symbolizer::LoadUnwindRows(*file, tee));
  PackedTable table = packer.Finish();
  ASSERT_TRUE(tables_.Insert(kModule, table));

  auto offset_of = [&](uint64_t elf_vaddr) -> std::optional<uint64_t> {
    for (const Elf64_Phdr& header : file->program_headers()) {
      bool in = header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 &&
                elf_vaddr >= header.p_vaddr && elf_vaddr < header.p_vaddr + header.p_filesz;
      if (in) return elf_vaddr - header.p_vaddr + header.p_offset;
    }
    return std::nullopt;
  };
  size_t judged = 0;
  for (size_t i = 0; i + 1 < tee.rows.size(); ++i) {
    uint64_t begin = tee.rows[i].elf_vaddr;
    uint64_t end = tee.rows[i + 1].elf_vaddr;
    for (uint64_t pc : {begin, begin + (end - begin) / 2, end - 1}) {
      std::optional<uint64_t> offset = offset_of(pc);
      if (!offset) continue;
      std::optional<Caller> wanted = ByRow(tee.rows[i].rule, kLoadBias + *offset);
      // A CFA at or below the stack pointer is refused by the walk, whatever the row says.
      if (wanted && wanted->cfa <= kSp && !tee.rows[i].rule.signal_frame) continue;
      // Outside of the stack we made there is nothing to compare.
      auto in_stack = [](uint64_t at) {
        return at > kStackBegin && at < kStackBegin + kStackBytes;
      };
      if (wanted && !in_stack(wanted->cfa)) continue;
      ASSERT_EQ(wanted, ByWalk(*offset)) << std::hex << "at " << pc << ", row of " << begin;
      ++judged;
    }
  }
  EXPECT_GT(judged, tee.rows.size());
  // Rows as the reader hands them out are merged already: equal neighbours are one.
  double bytes_a_row = static_cast<double>(table.bytes()) / static_cast<double>(tee.rows.size());
  std::printf("%s: %zu rows, packed %zu, %zu rules, %zu bytes: %.2f a row; %zu addresses equal\n",
              GetParam(), tee.rows.size(), table.rows.size(), table.rules.size(), table.bytes(),
              bytes_a_row, judged);
  EXPECT_LE(bytes_a_row, 5.0);
}

INSTANTIATE_TEST_SUITE_P(OfThisMachine, PackedTableTest,
                         ::testing::Values("/lib/x86_64-linux-gnu/libc.so.6",
                                           "/lib64/ld-linux-x86-64.so.2",
                                           "/lib/x86_64-linux-gnu/libcrypto.so.3",
                                           "/usr/bin/python3.11",
                                           "/lib/x86_64-linux-gnu/libLLVM-14.so.1"));

}  // namespace

}  // namespace firetower::daemon
