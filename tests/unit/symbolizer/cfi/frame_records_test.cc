// SPDX-License-Identifier: Apache-2.0
// The forms of records: LSB Core, "Exception Frames", for .eh_frame; DWARF 5, 6.4.1 for
// .debug_frame.
#include "symbolizer/cfi/frame_records.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "tests/unit/symbolizer/support/cfi_builder.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Format = FrameBuilder::Format;

constexpr uint64_t kCode = 0x401000;
constexpr uint64_t kBytes = 0x100;

UnwindRule Entry() { return {.cfa = UnwindRule::Cfa::kRegister, .cfa_offset = 8}; }
std::vector<UnwindRow> EntryRows(uint64_t begin = kCode, uint64_t bytes = kBytes) {
  return {{begin, Entry()}, {begin + bytes, {}}};
}

LoadedRows LoadEhFrame(const std::string& bytes) {
  FrameFile file;
  file.AddSection(".eh_frame", FrameFile::kEhFrame, bytes);
  return LoadRows(file.Build());
}
LoadedRows LoadDebugFrame(const std::string& bytes) {
  FrameFile file;
  file.AddSection(".debug_frame", FrameFile::kDebugFrame, bytes);
  return LoadRows(file.Build());
}
uint64_t Faults(const LoadedRows& loaded, CfiFault fault) {
  return loaded.stats.faults[static_cast<size_t>(fault)];
}

TEST(FrameRecords, ReadsEachEncodingOfAnAddress) {
  struct Case {
    uint8_t encoding;
    CfiBytes range;
  };
  const uint64_t field = [] {
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie();
    return frames.next_body_elf_vaddr();
  }();
  const auto distance = kCode - field;
  const Case cases[] = {
      {DW_EH_PE_absptr, CfiBytes().U64(kCode).U64(kBytes)},
      {DW_EH_PE_udata4, CfiBytes().U32(kCode).U32(kBytes)},
      {DW_EH_PE_udata8, CfiBytes().U64(kCode).U64(kBytes)},
      {DW_EH_PE_uleb128, CfiBytes().Uleb(kCode).Uleb(kBytes)},
      {DW_EH_PE_sdata4, CfiBytes().U32(kCode).U32(kBytes)},
      {DW_EH_PE_sdata8, CfiBytes().U64(kCode).U64(kBytes)},
      {DW_EH_PE_sleb128, CfiBytes().Sleb(kCode).Sleb(kBytes)},
      {DW_EH_PE_pcrel | DW_EH_PE_absptr, CfiBytes().U64(distance).U64(kBytes)},
      {DW_EH_PE_pcrel | DW_EH_PE_sdata4, CfiBytes().U32(distance).U32(kBytes)},
      {DW_EH_PE_pcrel | DW_EH_PE_sdata8, CfiBytes().U64(distance).U64(kBytes)},
      {DW_EH_PE_pcrel | DW_EH_PE_sleb128,
       CfiBytes().Sleb(static_cast<int64_t>(distance)).Sleb(kBytes)},
      {DW_EH_PE_pcrel | DW_EH_PE_udata8, CfiBytes().U64(distance).U64(kBytes)},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(int{test.encoding});
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    TestCie cie;
    cie.augmentation_data = CfiBytes().U8(test.encoding);
    frames.AddRawFde(CfiBytes(test.range).U8(0), frames.AddCie(cie));
    EXPECT_EQ(LoadEhFrame(frames.str()).rows, EntryRows());
  }
}

TEST(FrameRecords, ReadsShortAddresses) {
  // Two bytes reach 0x7fff from where they stand, so the section is put near.
  for (uint64_t encoding : {DW_EH_PE_udata2, DW_EH_PE_sdata2}) {
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    TestCie cie;
    cie.augmentation_data = CfiBytes().U8(uint64_t{DW_EH_PE_pcrel} | encoding);
    frames.AddCie(cie);
    const uint64_t field = frames.next_body_elf_vaddr();
    frames.AddRawFde(CfiBytes().U16(0x200).U16(kBytes).U8(0), frames.last_cie());
    EXPECT_EQ(LoadEhFrame(frames.str()).rows, EntryRows(field + 0x200));
  }
  // Signed or not.
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  TestCie cie;
  cie.augmentation_data = CfiBytes().U8(DW_EH_PE_pcrel | DW_EH_PE_sdata2);
  frames.AddCie(cie);
  const uint64_t field = frames.next_body_elf_vaddr();
  frames.AddRawFde(CfiBytes().U16(0xff00).U16(0x40).U8(0), frames.last_cie());
  EXPECT_EQ(LoadEhFrame(frames.str()).rows, EntryRows(field - 0x100, 0x40));
}

TEST(FrameRecords, ReadsAlignedAddresses) {
  for (size_t shift = 0; shift < 4; ++shift) {
    TestCie cie;
    cie.augmentation_data = CfiBytes().U8(DW_EH_PE_aligned);
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie(cie);
    const uint64_t field = frames.next_body_elf_vaddr();
    const std::string padding((8 - field % 8) % 8, '\x55');
    // The length is of the same form, of which only the low bits count: 8 bytes.
    frames.AddRawFde(CfiBytes().Raw(padding).U64(kCode).U64(kBytes).U8(0), frames.last_cie());
    EXPECT_EQ(LoadEhFrame(frames.str()).rows, EntryRows());
  }
}

TEST(FrameRecords, RefusesEncodingsThatNoX86FileUses) {
  for (int encoding : {0x9b, 0x80, 0x2b, 0x3b, 0x4b, 0x6b, 0x05, 0x0d, 0x51, 0xff}) {
    SCOPED_TRACE(encoding);
    TestCie cie;
    cie.augmentation_data = CfiBytes().U8(static_cast<uint8_t>(encoding));
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie(cie);
    frames.AddRawFde(CfiBytes().U64(kCode).U64(kBytes).U8(0), frames.last_cie());
    frames.AddCie();
    frames.AddFde(kCode + 0x1000, kBytes, {});
    LoadedRows loaded = LoadEhFrame(frames.str());
    EXPECT_EQ(Faults(loaded, CfiFault::kEncoding), 1u);
    EXPECT_EQ(loaded.rows, EntryRows(kCode + 0x1000));  // only the one
  }
}

TEST(FrameRecords, ReadsAugmentations) {
  const auto with = [](const std::string& letters, const CfiBytes& data) {
    TestCie cie;
    cie.augmentation = letters;
    cie.augmentation_data = data;
    return cie;
  };
  struct Case {
    TestCie cie;
    bool signal;
  };
  const Case cases[] = {
      {with("z", CfiBytes()), false},
      {with("zS", CfiBytes()), true},
      {with("zB", CfiBytes()), false},
      {with("zL", CfiBytes().U8(0x1b)), false},
      {with("zSB", CfiBytes().U8(1).U8(2)), true},  // data that nobody asked for
      {with("", CfiBytes()), false},
      {with("S", CfiBytes()), true},
      {with("zP", CfiBytes().U8(0x9b).U32(0x1234)), false},
      {with("zPL", CfiBytes().U8(0x00).U64(0x1234).U8(0x1b)), false},
      {with("zPLS", CfiBytes().U8(0x02).U16(0x1234).U8(0x1b)), true},
      {with("zPS", CfiBytes().U8(0x01).Uleb(0x123456)), true},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.cie.augmentation);
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie(test.cie);
    frames.AddFde(kCode, kBytes, {});
    LoadedRows loaded = LoadEhFrame(frames.str());
    EXPECT_EQ(loaded.stats.bad_fdes(), 0u);
    UnwindRule expected = Entry();
    expected.signal_frame = test.signal;
    EXPECT_EQ(loaded.rows, (std::vector<UnwindRow>{{kCode, expected}, {kCode + kBytes, {}}}));
  }
}

TEST(FrameRecords, ReadsThePersonalityBeforeTheEncoding) {
  TestCie cie;
  cie.augmentation = "zPLR";
  cie.augmentation_data = CfiBytes().U8(0x9b).U32(0x1234).U8(0x1b).U8(DW_EH_PE_udata4);
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  frames.AddCie(cie);
  // Its data: where the language's table is.
  frames.AddRawFde(CfiBytes().U32(kCode).U32(kBytes).Block(CfiBytes().U32(7)), frames.last_cie());
  EXPECT_EQ(LoadEhFrame(frames.str()).rows, EntryRows());
}

TEST(FrameRecords, RefusesAugmentationsThatItDoesNotKnow) {
  for (std::string letters : {"eh", "R", "zG", "zQR", "SP"}) {
    SCOPED_TRACE(letters);
    TestCie cie;
    cie.augmentation = letters;
    cie.augmentation_data = CfiBytes().U8(0x1b).U8(0);
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie(cie);
    frames.AddFde(kCode, kBytes, {});
    LoadedRows loaded = LoadEhFrame(frames.str());
    EXPECT_EQ(Faults(loaded, CfiFault::kAugmentation), 1u);
    EXPECT_TRUE(loaded.rows.empty());
  }
}

TEST(FrameRecords, ReadsTheVersionsThatThereAre) {
  for (const uint8_t version : std::initializer_list<uint8_t>{1, 3, 4}) {
    TestCie cie;
    cie.version = version;
    FrameBuilder eh_frame(Format::kEhFrame, FrameFile::kEhFrame);
    eh_frame.AddCie(cie);
    eh_frame.AddFde(kCode, kBytes, {});
    EXPECT_EQ(LoadEhFrame(eh_frame.str()).rows, EntryRows()) << int{version};
    cie.augmentation = "";
    FrameBuilder debug_frame(Format::kDebugFrame, FrameFile::kDebugFrame);
    debug_frame.AddCie(cie);
    debug_frame.AddFde(kCode, kBytes, {});
    EXPECT_EQ(LoadDebugFrame(debug_frame.str()).rows, EntryRows()) << int{version};
  }
}

TEST(FrameRecords, RefusesCiesOfOtherMachinesAndVersions) {
  TestCie cies[7];
  cies[0].version = 2;
  cies[1].version = 5;
  cies[2].version = cies[3].version = 4;
  cies[2].address_bytes = 4;
  cies[3].segment_bytes = 2;
  cies[4].code_alignment = 256;
  cies[5].augmentation_data = CfiBytes();  // 'R' without its byte
  cies[6].initial = CfiBytes().Raw(std::string(600, '\0'));
  for (const TestCie& cie : cies) {
    SCOPED_TRACE(&cie - cies);
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie(cie);
    frames.AddFde(kCode, kBytes, {});
    LoadedRows loaded = LoadEhFrame(frames.str());
    EXPECT_EQ(Faults(loaded, CfiFault::kCie), 1u);
    EXPECT_TRUE(loaded.rows.empty());
  }
}

TEST(FrameRecords, RefusesCiesWhoseInstructionsAreBad) {
  const std::pair<CfiBytes, CfiFault> programs[] = {
      {CfiBytes().U8(DW_CFA_advance_loc | 1), CfiFault::kOpcode},
      {CfiBytes().U8(0x3f), CfiFault::kOpcode},
      {CfiBytes().U8(DW_CFA_restore_state), CfiFault::kState},
      {CfiBytes().U8(DW_CFA_def_cfa_expression).Uleb(200), CfiFault::kTruncated},
  };
  for (const auto& [program, fault] : programs) {
    TestCie cie;
    cie.initial = program;
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie(cie);
    frames.AddFde(kCode, kBytes, {});
    EXPECT_EQ(Faults(LoadEhFrame(frames.str()), fault), 1u) << CfiFaultName(fault);
  }
}

TEST(FrameRecords, ReadsLengthsOfSixtyFourBits) {
  TestCie cie;
  cie.dwarf64 = true;
  FrameBuilder eh_frame(Format::kEhFrame, FrameFile::kEhFrame);
  eh_frame.AddCie(cie);
  eh_frame.AddFde(kCode, kBytes, {});
  EXPECT_EQ(LoadEhFrame(eh_frame.str()).rows, EntryRows());
  cie.augmentation = "";
  cie.version = 4;
  FrameBuilder debug_frame(Format::kDebugFrame, FrameFile::kDebugFrame);
  debug_frame.AddRaw(CfiBytes().U32(8).U64(0));  // an FDE too short for its range
  debug_frame.AddCie(cie);
  debug_frame.AddFde(kCode, kBytes, {});
  EXPECT_EQ(LoadDebugFrame(debug_frame.str()).rows, EntryRows());
}

TEST(FrameRecords, AnFdeNeedsItsCie) {
  const CfiBytes range = CfiBytes().U32(kCode).U32(kBytes).U8(0);
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  frames.AddCie();
  frames.AddFde(kCode, kBytes, {});
  const uint64_t fde = frames.str().size();
  frames.AddRawFde(range, uint64_t{0} - 400);  // before the section
  frames.AddRawFde(range, fde);                // an FDE
  frames.AddRawFde(range, fde + 1);            // the middle of one
  LoadedRows loaded = LoadEhFrame(frames.str());
  EXPECT_EQ(loaded.rows, EntryRows());
  EXPECT_EQ(Faults(loaded, CfiFault::kCie), 3u);
  EXPECT_EQ(loaded.stats.fdes, 4u);
}

TEST(FrameRecords, ReadsMoreCiesThanItKeeps) {
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  std::vector<uint64_t> cies;
  for (uint64_t i = 0; i < 200; ++i) {
    TestCie cie;
    cie.augmentation_data = CfiBytes().U8(DW_EH_PE_udata4);
    cie.initial = CfiBytes().U8(DW_CFA_def_cfa).Uleb(7).Uleb(8 + 8 * i).Raw("\x90\x01");
    cies.push_back(frames.AddCie(cie));
  }
  for (size_t i = 0; i < 400; ++i) {
    frames.AddRawFde(CfiBytes().U32(kCode + 0x10 * i).U32(0x10).U8(0), cies[i * 7 % 200]);
  }
  LoadedRows loaded = LoadEhFrame(frames.str());
  ASSERT_EQ(loaded.rows.size(), 401u);
  for (size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(loaded.rows[i].rule.cfa_offset, static_cast<int32_t>(8 + 8 * (i * 7 % 200)));
  }
}

TEST(FrameRecords, SkipsDiscardedFunctions) {
  TestCie cie;
  cie.augmentation = "";
  FrameBuilder frames(Format::kDebugFrame, FrameFile::kDebugFrame);
  frames.AddCie(cie);
  frames.AddFde(0, kBytes, {});
  frames.AddFde(UINT64_MAX, kBytes, {});      // lld -z dead-reloc-in-nonalloc
  frames.AddFde(UINT64_MAX - 1, kBytes, {});  // lld in .debug_loc
  frames.AddFde(kCode + 0x800, 0, {});
  frames.AddFde(kCode, kBytes, {});
  LoadedRows loaded = LoadDebugFrame(frames.str());
  EXPECT_EQ(loaded.rows, EntryRows());
  EXPECT_EQ(loaded.stats.discarded_fdes, 4u);
  EXPECT_EQ(loaded.stats.fdes, 1u);
  EXPECT_EQ(loaded.stats.bad_fdes(), 0u);
}

TEST(FrameRecords, RefusesRangesThatAreNone) {
  TestCie cie;
  cie.augmentation = "";
  FrameBuilder frames(Format::kDebugFrame, FrameFile::kDebugFrame);
  frames.AddCie(cie);
  frames.AddFde(UINT64_MAX - 0x80, kBytes, {});                // wraps
  frames.AddFde(kCode, uint64_t{UINT32_MAX} + 1, {});          // 4 GiB
  frames.AddRawFde(CfiBytes().U64(kCode), frames.last_cie());  // no length
  frames.AddFde(kCode, kBytes, {});
  LoadedRows loaded = LoadDebugFrame(frames.str());
  EXPECT_EQ(loaded.rows, EntryRows());
  EXPECT_EQ(Faults(loaded, CfiFault::kAddress), 2u);
  EXPECT_EQ(Faults(loaded, CfiFault::kTruncated), 1u);
}

TEST(FrameRecords, GoesOnBehindATerminatorInASection) {
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  frames.AddRaw(CfiBytes().U32(0));
  frames.AddCie();
  frames.AddFde(kCode, kBytes, {});
  frames.AddRaw(CfiBytes().U32(0).U32(0));
  frames.AddFde(kCode + 0x1000, kBytes, {});
  EXPECT_EQ(LoadEhFrame(frames.str()).rows.size(), 4u);
}

TEST(FrameRecords, ABadRecordCostsOnlyItself) {
  FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
  frames.AddCie();
  frames.AddFde(kCode, kBytes, {});
  frames.AddRaw(CfiBytes().U32(2).U16(1));                             // too short for an id
  frames.AddRawFde(CfiBytes().U32(0x1234).U16(0), frames.last_cie());  // cut in its length
  // Augmentation data beyond the record.
  frames.AddRawFde(CfiBytes().U32(0x100).U32(8).Uleb(1000), frames.last_cie());
  // A record longer than any.
  frames.AddRawFde(CfiBytes().U32(0x100).U32(8).Raw(std::string(2u << 20, '\0')),
                   frames.last_cie());
  frames.AddFde(kCode + kBytes, kBytes, CfiBytes().U8(0x3f));
  frames.AddFde(kCode + 2 * kBytes, kBytes, {});
  LoadedRows loaded = LoadEhFrame(frames.str());
  EXPECT_EQ(Faults(loaded, CfiFault::kLength), 2u);
  EXPECT_EQ(Faults(loaded, CfiFault::kTruncated), 1u);
  EXPECT_EQ(Faults(loaded, CfiFault::kOpcode), 1u);
  EXPECT_EQ(RowAt(loaded.rows, kCode).rule, Entry());
  EXPECT_EQ(RowAt(loaded.rows, kCode + kBytes).rule, UnwindRule{});
  EXPECT_EQ(RowAt(loaded.rows, kCode + 2 * kBytes).rule, Entry());
}

TEST(FrameRecords, EndsWhereTheNextRecordCannotBeFound) {
  for (const CfiBytes& bad : {CfiBytes().U32(0xfffffff0), CfiBytes().U32(0x100000),
                              CfiBytes().U32(0xffffffff).U64(UINT64_MAX), CfiBytes().U8(1)}) {
    FrameBuilder frames(Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie();
    frames.AddFde(kCode, kBytes, {});
    frames.AddRaw(bad);
    LoadedRows loaded = LoadEhFrame(frames.str());
    EXPECT_EQ(loaded.rows, EntryRows());
    EXPECT_EQ(Faults(loaded, CfiFault::kLength), 1u);
  }
}

}  // namespace
}  // namespace firetower::symbolizer
