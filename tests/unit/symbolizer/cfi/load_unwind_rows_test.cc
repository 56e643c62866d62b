// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/load_unwind_rows.h"

#include <dwarf.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>

#include "tests/unit/symbolizer/support/cfi_builder.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;
using Format = FrameBuilder::Format;

constexpr uint64_t kCode = 0x401000;

UnwindRule WithCfa(int32_t offset) { return {.cfa = Cfa::kRegister, .cfa_offset = offset}; }
CfiBytes CfaOffset(uint64_t offset) { return CfiBytes().U8(DW_CFA_def_cfa_offset).Uleb(offset); }

class LoadUnwindRowsTest : public ::testing::Test {
 protected:
  LoadUnwindRowsTest() {
    eh_frame_.AddCie();
    TestCie plain;
    plain.augmentation = "";
    debug_frame_.AddCie(plain);
  }
  LoadedRows LoadBoth(uint64_t debug_frame_flags = 0) {
    FrameFile file;
    file.AddSection(".eh_frame", FrameFile::kEhFrame, eh_frame_.str());
    file.AddSection(".debug_frame", FrameFile::kDebugFrame, debug_frame_.str(), debug_frame_flags);
    return LoadRows(file.Build());
  }
  FrameBuilder eh_frame_{Format::kEhFrame, FrameFile::kEhFrame};
  FrameBuilder debug_frame_{Format::kDebugFrame, FrameFile::kDebugFrame};
};

TEST_F(LoadUnwindRowsTest, SortsFunctions) {
  eh_frame_.AddFde(kCode + 0x20, 0x20, CfaOffset(24));
  eh_frame_.AddFde(kCode + 0x40, 0x20, CfaOffset(32));
  eh_frame_.AddFde(kCode, 0x20, CfaOffset(16));
  LoadedRows loaded = LoadRows(FileWithEhFrame(eh_frame_));
  EXPECT_EQ(loaded.rows, (std::vector<UnwindRow>{{kCode, WithCfa(16)},
                                                 {kCode + 0x20, WithCfa(24)},
                                                 {kCode + 0x40, WithCfa(32)},
                                                 {kCode + 0x60, {}}}));
  EXPECT_EQ(loaded.stats.fdes, 3u);
  EXPECT_EQ(loaded.stats.raw_rows, 3u);
  EXPECT_EQ(loaded.stats.rows, 4u);
}

TEST_F(LoadUnwindRowsTest, MergesEqualNeighbours) {
  eh_frame_.AddFde(kCode, 0x18, {});
  eh_frame_.AddFde(kCode + 0x20, 0x20, {});
  eh_frame_.AddFde(kCode + 0x40, 0x20, {});
  EXPECT_EQ(LoadRows(FileWithEhFrame(eh_frame_)).rows,
            (std::vector<UnwindRow>{{kCode, WithCfa(8)}, {kCode + 0x60, {}}}));
}

TEST_F(LoadUnwindRowsTest, MarksGapsThatAreNoPadding) {
  eh_frame_.AddFde(kCode, 0x11, CfaOffset(16));         // 15 bytes to the next
  eh_frame_.AddFde(kCode + 0x20, 0x10, CfaOffset(24));  // 16 bytes
  eh_frame_.AddFde(kCode + 0x40, 0x10, CfaOffset(24));
  EXPECT_EQ(LoadRows(FileWithEhFrame(eh_frame_)).rows,
            (std::vector<UnwindRow>{{kCode, WithCfa(16)},
                                    {kCode + 0x20, WithCfa(24)},
                                    {kCode + 0x30, {}},
                                    {kCode + 0x40, WithCfa(24)},
                                    {kCode + 0x50, {}}}));
}

TEST_F(LoadUnwindRowsTest, FillsFromDebugFrameWhatEhFrameLeavesOpen) {
  eh_frame_.AddFde(kCode + 0x20, 0x20, CfaOffset(16));
  auto program = CfaOffset(24).U8(DW_CFA_advance_loc | 0x30).Raw(CfaOffset(32).str());
  debug_frame_.AddFde(kCode, 0x60, program);
  debug_frame_.AddFde(kCode + 0x20, 0x20, CfaOffset(40));
  EXPECT_EQ(LoadBoth().rows, (std::vector<UnwindRow>{{kCode, WithCfa(24)},
                                                     {kCode + 0x20, WithCfa(16)},
                                                     {kCode + 0x40, WithCfa(32)},
                                                     {kCode + 0x60, {}}}));
}

TEST_F(LoadUnwindRowsTest, CountsTheFaultOfAnFdeInPiecesOnce) {
  eh_frame_.AddFde(kCode + 0x10, 0x10, {});
  eh_frame_.AddFde(kCode + 0x30, 0x10, {});
  debug_frame_.AddFde(kCode, 0x60, CfaOffset(24).U8(DW_CFA_advance_loc | 8).U8(0x3f));
  LoadedRows loaded = LoadBoth();
  EXPECT_EQ(loaded.rows, (std::vector<UnwindRow>{{kCode, WithCfa(24)},
                                                 {kCode + 8, {}},
                                                 {kCode + 0x10, WithCfa(8)},
                                                 {kCode + 0x20, {}},
                                                 {kCode + 0x30, WithCfa(8)},
                                                 {kCode + 0x40, {}}}));
  EXPECT_EQ(loaded.stats.bad_fdes(), 1u);
}

TEST_F(LoadUnwindRowsTest, CountsFdesThatOthersCutTooOften) {
  for (uint64_t i = 0; i < 40; ++i) eh_frame_.AddFde(kCode + 0x40 * i, 0x20, CfaOffset(16));
  debug_frame_.AddFde(kCode, 0x40 * 40, {});
  LoadedRows loaded = LoadBoth();
  EXPECT_EQ(loaded.stats.faults[static_cast<size_t>(CfiFault::kOverlap)], 1u);
  EXPECT_EQ(RowAt(loaded.rows, kCode + 0x20).rule, WithCfa(8));
  EXPECT_EQ(RowAt(loaded.rows, kCode + 0x40 * 30).rule, WithCfa(16));
  EXPECT_EQ(RowAt(loaded.rows, kCode + 0x40 * 30 + 0x20).rule, UnwindRule{});
}

TEST_F(LoadUnwindRowsTest, TellsOfACompressedDebugFrame) {
  eh_frame_.AddFde(kCode, 0x20, {});
  debug_frame_.AddFde(kCode + 0x1000, 0x20, {});
  LoadedRows loaded = LoadBoth(SHF_COMPRESSED);
  EXPECT_TRUE(loaded.stats.compressed_debug_frame);
  EXPECT_EQ(loaded.rows.size(), 2u);
  EXPECT_FALSE(LoadBoth().stats.compressed_debug_frame);
}

TEST_F(LoadUnwindRowsTest, HasNothingOfAFileWithout) {
  LoadedRows loaded = LoadRows(FrameFile().Build());
  EXPECT_TRUE(loaded.status);
  EXPECT_TRUE(loaded.rows.empty());
  EXPECT_EQ(loaded.stats.fdes, 0u);
}

TEST_F(LoadUnwindRowsTest, RefusesOtherMachines) {
  FrameFile file;
  file.SetMachine(EM_AARCH64);
  EXPECT_EQ(LoadRows(file.Build()).status.error().code(), ErrorCode::kUnsupported);
}

// LSB Core, ".eh_frame_hdr".
TEST_F(LoadUnwindRowsTest, FindsEhFrameWithoutSectionHeaders) {
  eh_frame_.AddFde(kCode, 0x20, {});
  eh_frame_.AddRaw(CfiBytes().U32(0));
  eh_frame_.AddFde(kCode + 0x1000, 0x20, {});  // behind the end: not of this section
  const uint64_t field = FrameFile::kEhFrameHeader + 4;
  const std::pair<int, CfiBytes> pointers[] = {
      {DW_EH_PE_pcrel | DW_EH_PE_sdata4, CfiBytes().U32(FrameFile::kEhFrame - field)},
      {DW_EH_PE_datarel | DW_EH_PE_sdata4, CfiBytes().U32(FrameFile::kEhFrame - field + 4)},
      {DW_EH_PE_absptr, CfiBytes().U64(FrameFile::kEhFrame)},
      {DW_EH_PE_udata4, CfiBytes().U32(FrameFile::kEhFrame)},
      {DW_EH_PE_aligned, CfiBytes().U32(0).U64(FrameFile::kEhFrame)},
  };
  for (const auto& [encoding, pointer] : pointers) {
    SCOPED_TRACE(encoding);
    FrameFile file;
    file.AddSection(".eh_frame", FrameFile::kEhFrame, eh_frame_.str());
    file.SetEhFrameHeader(
        CfiBytes().U8(1).U8(static_cast<uint8_t>(encoding)).U16(0xffff).Raw(pointer.str()).str());
    file.LeaveOutSectionHeaders();
    EXPECT_EQ(LoadRows(file.Build()).rows,
              (std::vector<UnwindRow>{{kCode, WithCfa(8)}, {kCode + 0x20, {}}}));
  }
}

TEST_F(LoadUnwindRowsTest, IgnoresAnEhFrameHeaderThatLeadsNowhere) {
  eh_frame_.AddFde(kCode, 0x20, {});
  const CfiBytes headers[] = {
      CfiBytes().U8(2).U8(DW_EH_PE_udata4).U16(0).U32(FrameFile::kEhFrame),  // another version
      CfiBytes().U8(1).U8(DW_EH_PE_omit).U16(0).U32(FrameFile::kEhFrame),    //
      CfiBytes().U8(1).U8(DW_EH_PE_udata4).U16(0).U32(0x100),                // not in the image
      CfiBytes().U8(1).U8(DW_EH_PE_udata4).U16(0).U32(0x40000000),           //
      CfiBytes().U8(1).U8(DW_EH_PE_udata4).U16(0).U16(1),                    // cut
  };
  for (const CfiBytes& header : headers) {
    FrameFile file;
    file.AddSection(".eh_frame", FrameFile::kEhFrame, eh_frame_.str());
    file.SetEhFrameHeader(header.str());
    file.LeaveOutSectionHeaders();
    LoadedRows loaded = LoadRows(file.Build());
    EXPECT_TRUE(loaded.status);
    EXPECT_TRUE(loaded.rows.empty());
  }
}

// glibc's __restore_rt by hand (sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c): all registers
// are in the kernel's frame at RSP + 40, each by an expression; the CIE says nothing.
TEST_F(LoadUnwindRowsTest, ReadsGlibcsSignalFrame) {
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  TestCie cie;
  cie.augmentation = "zRS";
  cie.initial = {};
  cie.augmentation_data = CfiBytes().U8(DW_EH_PE_udata4);
  frames.AddCie(cie);
  auto at = [](uint64_t number, int64_t offset) {
    return CfiBytes()
        .U8(DW_CFA_expression)
        .Uleb(number)
        .Block(CfiBytes().U8(DW_OP_breg7).Sleb(offset));
  };
  CfiBytes program;
  program.U8(DW_CFA_def_cfa_expression).Block(CfiBytes().U8(DW_OP_breg7).Sleb(160).U8(DW_OP_deref));
  program.Raw(at(8, 40).str()).Raw(at(6, 120).str()).Raw(at(7, 160).str()).Raw(at(16, 168).str());
  frames.AddRawFde(CfiBytes().U32(kCode).U32(10).U8(0).Raw(program.str()), frames.last_cie());
  const UnwindRule expected = {.cfa = Cfa::kDeref,
                               .return_address = Place::kDeref,
                               .return_address_register = kDwarfRsp,
                               .rbp = Place::kDeref,
                               .rbp_register = kDwarfRsp,
                               .signal_frame = true,
                               .cfa_offset = 160,
                               .return_address_offset = 168,
                               .rbp_offset = 120};
  EXPECT_EQ(LoadRows(FileWithEhFrame(frames)).rows,
            (std::vector<UnwindRow>{{kCode, expected}, {kCode + 10, {}}}));
}

// _start marks itself the outermost frame.
TEST_F(LoadUnwindRowsTest, KnowsTheFirstFrame) {
  eh_frame_.AddFde(kCode, 0x20, CfiBytes().U8(DW_CFA_undefined).Uleb(16));
  EXPECT_EQ(LoadRows(FileWithEhFrame(eh_frame_)).rows[0].rule.return_address, Place::kUndefined);
}

TEST_F(LoadUnwindRowsTest, FailsWhenTheFileIsCutUnderItsHands) {
  eh_frame_.AddFde(kCode, 0x20, {});
  const std::string bytes = FileWithEhFrame(eh_frame_);
  // The size is taken before, as a FileSource does.
  class Shrunk : public MemorySource {
   public:
    explicit Shrunk(std::string_view whole)
        : MemorySource(std::as_bytes(std::span(whole))), whole_(whole) {}
    Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
      const bool frames = offset == FrameFile::kEhFrame - FrameFile::kImageElfVaddr;
      if (frames) return Error(ErrorCode::kCorrupt, "ends before");
      return MemorySource::ReadAt(offset, out);
    }

   private:
    std::string_view whole_;
  };
  Shrunk source(bytes);
  ElfFile file = ElfFile::Open(source).value();
  RowList rows;
  EXPECT_EQ(LoadUnwindRows(file, rows).error().code(), ErrorCode::kCorrupt);
}

// Every prefix of the section, in a file that is whole: the rows are the whole section's, up to
// some FDE.
TEST_F(LoadUnwindRowsTest, SurvivesATruncatedSection) {
  std::vector<size_t> ends;
  for (uint64_t i = 0; i < 8; ++i) {
    auto program = CfaOffset(16 + 8 * i).U8(DW_CFA_advance_loc | 4);
    program.U8(DW_CFA_offset | kDwarfRbp).Uleb(2);
    eh_frame_.AddFde(kCode + 0x20 * i, 0x20, program);
    ends.push_back(eh_frame_.str().size());
  }
  const LoadedRows whole = LoadRows(FileWithEhFrame(eh_frame_));
  for (size_t length = 0; length < eh_frame_.str().size(); ++length) {
    FrameFile file;
    file.AddSection(".eh_frame", FrameFile::kEhFrame, eh_frame_.str().substr(0, length));
    const LoadedRows cut = LoadRows(file.Build());
    ASSERT_TRUE(cut.status);
    ASSERT_LE(cut.rows.size(), whole.rows.size());
    for (size_t i = 0; i + 1 < cut.rows.size(); ++i) ASSERT_EQ(cut.rows[i], whole.rows[i]);
    ASSERT_LE(cut.stats.bad_fdes(), 1u);
    // Nothing is lost but what is cut.
    const auto whole_fdes =
        std::count_if(ends.begin(), ends.end(), [&](size_t end) { return end <= length; });
    ASSERT_EQ(cut.stats.fdes, static_cast<uint64_t>(whole_fdes));
  }
}

// Every prefix of a real file, whose section headers are at the end and so left out.
TEST_F(LoadUnwindRowsTest, SurvivesATruncatedFile) {
  const uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) GTEST_SKIP() << "this kernel maps no vdso";
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(start);
  std::string image(reinterpret_cast<const char*>(start), header->e_shoff);
  auto* changed = reinterpret_cast<Elf64_Ehdr*>(image.data());
  changed->e_shoff = changed->e_shnum = 0;
  const LoadedRows whole = LoadRows(image);
  ASSERT_GT(whole.rows.size(), 10u);
  size_t with_rows = 0;
  for (size_t length = 0; length < image.size(); ++length) {
    // Copied, so that a read beyond the end is one beyond a block of memory.
    const std::vector<char> cut(image.data(), image.data() + length);
    const LoadedRows rows = LoadRows({cut.data(), cut.size()});
    if (!rows.status) continue;
    with_rows += rows.rows.empty() ? 0 : 1;
    for (const UnwindRow& row : rows.rows) {
      if (row.rule.cfa == Cfa::kNone) continue;
      ASSERT_EQ(row.rule, RowAt(whole.rows, row.elf_vaddr).rule) << length;
    }
  }
  EXPECT_GT(with_rows, 0u);
  EXPECT_LT(with_rows, image.size());
}

}  // namespace
}  // namespace firetower::symbolizer
