// SPDX-License-Identifier: Apache-2.0
// The bytes are those of glibc's crti.o and crtn.o, of musl's, and of the linkage tables in the
// System V ABI's AMD64 supplement, 5.2, as GNU ld and lld write them; and of musl's restore.s.
#include "symbolizer/cfi/bare_code.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstddef>

#include "symbolizer/cfi/load_unwind_rows.h"
#include "tests/unit/symbolizer/support/cfi_builder.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using std::string_literals::operator""s;

constexpr uint64_t kInit = FrameFile::kImageElfVaddr + 0x1000;
constexpr uint64_t kPlt = FrameFile::kImageElfVaddr + 0x1020;
constexpr uint64_t kCode = FrameFile::kImageElfVaddr + 0x2000;
constexpr uint64_t kFini = FrameFile::kImageElfVaddr + 0x2100;

// endbr64; sub $8,%rsp; mov …(%rip),%rax; test %rax,%rax; je; call *%rax; add $8,%rsp; ret
const std::string kInitBytes =
    "\xf3\x0f\x1e\xfa\x48\x83\xec\x08\x48\x8b\x05\xc1\x2f\x00\x00\x48\x85\xc0\x74\x02\xff\xd0"
    "\x48\x83\xc4\x08\xc3"s;
const std::string kFiniBytes = "\x48\x83\xec\x08\x48\x83\xc4\x08\xc3"s;
const std::string kPlt0 = "\xff\x35\xe2\x2f\x00\x00\xff\x25\xe4\x2f\x00\x00\x0f\x1f\x40\x00"s;
const std::string kPltEntry = "\xff\x25\xe2\x2f\x00\x00\x68\x00\x00\x00\x00\xe9\xe0\xff\xff\xff"s;
const std::string kIbtEntry = "\xf3\x0f\x1e\xfa\x68\x00\x00\x00\x00\xe9\xe2\xff\xff\xff\x66\x90"s;

constexpr uint64_t kText = FrameFile::kImageElfVaddr + 0x1800;
// mov $0xf,%rax; syscall
const std::string kSignalReturn = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"s;

class BareCodeTest : public ::testing::Test {
 protected:
  void AddCode(std::string_view name, uint64_t elf_vaddr, const std::string& bytes) {
    file_.AddSection(name, elf_vaddr, bytes, SHF_ALLOC | SHF_EXECINSTR);
  }
  void AddFde(uint64_t begin, uint64_t bytes) {
    if (frames_.str().empty()) frames_.AddCie();
    frames_.AddFde(begin, bytes, CfiBytes());
  }
  const std::vector<UnwindRow>& Load() {
    file_.AddSection(".eh_frame", FrameFile::kEhFrame, frames_.str());
    image_ = file_.Build();
    MemorySource source(std::as_bytes(std::span(image_)));
    ElfFile elf = ElfFile::Open(source).value();
    BareCodeRows rows(elf, list_);
    EXPECT_TRUE(LoadUnwindRows(elf, rows));
    rows.Finish();
    for (size_t i = 1; i < list_.rows.size(); ++i) {
      EXPECT_LT(list_.rows[i - 1].elf_vaddr, list_.rows[i].elf_vaddr);
      EXPECT_NE(list_.rows[i - 1].rule, list_.rows[i].rule);
    }
    return list_.rows;
  }
  // Returns the distance of the CFA from RSP; -1 without a rule.
  int64_t CfaAt(uint64_t elf_vaddr) {
    const UnwindRule& rule = RowAt(list_.rows, elf_vaddr).rule;
    if (rule.cfa == Cfa::kPlt) return 8 + ((elf_vaddr & 15) >= unsigned(rule.cfa_addend) ? 8 : 0);
    return rule.cfa == Cfa::kRegister && rule.cfa_register == kDwarfRsp ? rule.cfa_offset : -1;
  }

  FrameFile file_;
  FrameBuilder frames_{FrameBuilder::Format::kEhFrame, FrameFile::kEhFrame};
  std::string image_;
  RowList list_;
};

TEST_F(BareCodeTest, StartFilesFunctionsHaveRows) {
  AddCode(".init", kInit, kInitBytes);
  AddFde(kCode, 0x80);
  AddCode(".fini", kFini, kFiniBytes);
  Load();
  for (uint64_t at = 0; at < kInitBytes.size(); ++at) {
    EXPECT_EQ(CfaAt(kInit + at), at < 8 || at == kInitBytes.size() - 1 ? 8 : 16) << at;
  }
  EXPECT_EQ(CfaAt(kInit + kInitBytes.size()), -1);
  EXPECT_EQ(CfaAt(kCode + 0x10), 8);
  EXPECT_EQ(CfaAt(kCode + 0x90), -1);
  EXPECT_EQ(CfaAt(kFini + 3), 8);
  EXPECT_EQ(CfaAt(kFini + 4), 16);
  EXPECT_EQ(CfaAt(kFini + 8), 8);
  EXPECT_EQ(CfaAt(kFini + 9), -1);
}

TEST_F(BareCodeTest, ALinkageTableThatNobodyDescribesHasRows) {
  AddCode(".plt", kPlt, kPlt0 + kPltEntry + kPltEntry);
  AddCode(".plt.got", kPlt + 0x30, "\xff\x25\x00\x00\x00\x00\x66\x90"s);
  AddFde(kCode, 0x80);
  Load();
  for (auto [at, cfa] : {std::pair{0, 16},
                         {5, 16},
                         {6, 24},
                         {15, 24},
                         {16, 8},
                         {26, 8},
                         {27, 16},
                         {31, 16},
                         {32, 8},
                         {43, 16},
                         {48, 8},
                         {54, 8},
                         {56, -1}}) {
    EXPECT_EQ(CfaAt(kPlt + static_cast<uint64_t>(at)), cfa) << at;
  }
}

TEST_F(BareCodeTest, TheFormForBranchTrackingPushesEarlier) {
  AddCode(".plt", kPlt, kPlt0 + kIbtEntry);
  AddCode(".plt.sec", kPlt + 0x20,
          "\xf3\x0f\x1e\xfa\xff\x25\x00\x00\x00\x00\x66\x0f\x1f\x44\x00\x00"s);
  Load();
  EXPECT_EQ(CfaAt(kPlt + 16 + 8), 8);
  EXPECT_EQ(CfaAt(kPlt + 16 + 9), 16);
  EXPECT_EQ(CfaAt(kPlt + 32 + 4), 8);
}

TEST_F(BareCodeTest, WhatAnFdeCoversIsAsItSays) {
  AddCode(".plt", kPlt, kPlt0 + kPltEntry);
  AddFde(kPlt, 0x20);
  AddFde(kCode, 0x80);
  Load();
  EXPECT_EQ(CfaAt(kPlt + 6), 8);
}

TEST_F(BareCodeTest, CodeOfAnotherShapeHasNoRows) {
  std::string pushes = kInitBytes;
  pushes[4] = '\x50';
  AddCode(".init", kInit, pushes);
  AddCode(".fini", kFini, kFiniBytes.substr(0, 5));
  AddCode(".plt", kPlt, kPltEntry + kPltEntry);
  AddFde(kCode, 0x80);
  Load();
  EXPECT_EQ(list_.rows.size(), 2u);
}

// The kernel's struct rt_sigframe lies behind the handler's return address: where its RIP, RSP and
// RBP are is what offsetof says of the C library's types.
TEST_F(BareCodeTest, WhereSignalHandlersReturnToIsASignalFrame) {
  AddCode(".text", kText, std::string(100, '\x90') + kSignalReturn + std::string(100, '\x90'));
  AddFde(kCode, 0x80);
  Load();
  const auto saved = [](int number) {
    return static_cast<int32_t>(offsetof(ucontext_t, uc_mcontext.gregs) +
                                static_cast<size_t>(number) * sizeof(greg_t));
  };
  for (uint64_t at = 0; at < 209; ++at) {
    const UnwindRule& rule = RowAt(list_.rows, kText + at).rule;
    // A return address is looked up one byte before it.
    const bool inside = at >= 99 && at < 100 + kSignalReturn.size();
    EXPECT_EQ(rule.signal_frame, inside) << at;
    EXPECT_EQ(rule.cfa, inside ? Cfa::kDeref : Cfa::kNone) << at;
    if (!inside) continue;
    EXPECT_EQ(rule.cfa_register, kDwarfRsp);
    EXPECT_EQ(rule.cfa_offset, saved(REG_RSP));
    EXPECT_EQ(rule.return_address, UnwindRule::Place::kDeref);
    EXPECT_EQ(rule.return_address_offset, saved(REG_RIP));
    EXPECT_EQ(rule.rbp, UnwindRule::Place::kDeref);
    EXPECT_EQ(rule.rbp_offset, saved(REG_RBP));
  }
}

TEST_F(BareCodeTest, AFileWithoutCallFrameInformationHasThatRowToo) {
  AddCode(".text", kText, std::string(16, '\x90') + kSignalReturn + std::string(16, '\x90'));
  Load();
  ASSERT_EQ(list_.rows.size(), 2u);
  EXPECT_EQ(list_.rows[0].elf_vaddr, kText + 15);
  EXPECT_TRUE(list_.rows[0].rule.signal_frame);
  EXPECT_EQ(list_.rows[1].elf_vaddr, kText + 16 + kSignalReturn.size());
  EXPECT_EQ(list_.rows[1].rule.cfa, Cfa::kNone);
}

TEST_F(BareCodeTest, InCodeThatAnFdeCoversTheSameBytesAreNothing) {
  AddCode(".text", kText, std::string(32, '\x90') + kSignalReturn + std::string(32, '\x90'));
  AddFde(kText, 73);
  Load();
  for (uint64_t at = 0; at < 73; ++at) EXPECT_EQ(CfaAt(kText + at), 8) << at;
  EXPECT_EQ(list_.rows.size(), 2u);
}

// Right behind a function that is described, the byte before is that function's.
TEST_F(BareCodeTest, ASignalFramesRowTakesNothingFromTheFunctionBefore) {
  AddCode(".text", kText, std::string(32, '\x90') + kSignalReturn + std::string(32, '\x90'));
  AddFde(kText, 32);
  AddFde(kCode, 0x80);
  Load();
  EXPECT_EQ(CfaAt(kText + 31), 8);
  EXPECT_FALSE(RowAt(list_.rows, kText + 31).rule.signal_frame);
  EXPECT_TRUE(RowAt(list_.rows, kText + 32).rule.signal_frame);
  EXPECT_FALSE(RowAt(list_.rows, kText + 32 + kSignalReturn.size()).rule.signal_frame);
}

// Every prefix of each section: nothing is read beyond it.
TEST_F(BareCodeTest, SurvivesTruncatedSections) {
  for (const auto& [name, bytes] : {std::pair{".init", kInitBytes},
                                    {".fini", kFiniBytes},
                                    {".plt", kPlt0 + kPltEntry},
                                    {".plt.sec", kIbtEntry}}) {
    for (size_t size = 1; size <= bytes.size(); ++size) {
      FrameFile file;
      file.AddSection(name, kInit, bytes.substr(0, size), SHF_ALLOC | SHF_EXECINSTR);
      const std::string image = file.Build();
      MemorySource source(std::as_bytes(std::span(image)));
      for (const BareCode& bare : FindBareCode(ElfFile::Open(source).value())) {
        EXPECT_EQ(bare.end_elf_vaddr, kInit + size);
        EXPECT_LT(bare.rows.back().elf_vaddr, bare.end_elf_vaddr);
      }
    }
  }
}

}  // namespace
}  // namespace firetower::symbolizer
