// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/frame_records.h"

#include <fmt/core.h>

#include <algorithm>

#include "symbolizer/cfi/encoded_pointer.h"

namespace firetower::symbolizer {

namespace {

// DWARF 5, 7.4: this length says that the length of the 64-bit format follows; the 15 below it are
// reserved.
constexpr uint32_t kLength64 = 0xffffffff;
constexpr uint32_t kFirstReservedLength = 0xfffffff0;
// Two lengths and an id.
constexpr size_t kMaxRecordHeaderBytes = 4 + 8 + 8;
// An aligned address and a length: up to 7 bytes of padding, and twice 8. LEB128s have 20 at most.
constexpr uint64_t kMaxFdeRangeBytes = 23;
// Real ones have 30. The bound is for CIEs that are read again and again.
constexpr uint64_t kMaxCieBytes = 512;
// Tells whether an address is the linker's mark for a discarded section: 0, or, in .debug sections,
// -1 or -2.
constexpr bool IsDiscarded(uint64_t elf_vaddr) { return elf_vaddr == 0 || elf_vaddr + 2 < 2; }

}  // namespace

Status FrameRecords::Scan(std::vector<FdeRange>& fdes) {
  for (uint64_t offset = 0; offset < section_.size;) {
    const Record record = ReadRecord(offset);
    if (!bytes_.status()) return bytes_.status();
    if (record.kind == Kind::kBroken) stats_->Count(CfiFault::kLength);
    if (record.kind == Kind::kBroken || (record.kind == Kind::kZero && section_.ends_at_zero)) {
      break;
    }
    CfiFault fault = CfiFault::kNone;
    if (record.kind == Kind::kShort) fault = CfiFault::kLength;
    if (record.kind == Kind::kFde) fault = ScanFde(offset, record, fdes);
    if (!bytes_.status()) return bytes_.status();
    if (fault != CfiFault::kNone) {
      stats_->Count(fault);
      ++stats_->fdes;
    }
    if (fdes.size() > kMaxFdes) {
      return Error(ErrorCode::kExhausted, fmt::format("more than {} FDEs", kMaxFdes));
    }
    offset = record.end;
  }
  return OkStatus();
}

FrameRecords::Record FrameRecords::ReadRecord(uint64_t offset) {
  ByteReader reader(bytes_.Get(offset, kMaxRecordHeaderBytes));
  const bool eh_frame = section_.format == FrameSection::Format::kEhFrame;
  uint64_t length = reader.Fixed<uint32_t>();
  const bool is_64bit = length == kLength64;
  Record record;
  if (is_64bit) {
    length = reader.Fixed<uint64_t>();
  } else if (length >= kFirstReservedLength) {
    return record;
  }
  const uint64_t id_offset = offset + reader.position();
  if (reader.failed() || length > section_.size - id_offset) return record;
  record.end = id_offset + length;
  if (length == 0) {
    record.kind = Kind::kZero;
    return record;
  }
  // LSB Core: in .eh_frame the id keeps its four bytes.
  const bool long_id = is_64bit && !eh_frame;
  const uint64_t id = long_id ? reader.Fixed<uint64_t>() : reader.Fixed<uint32_t>();
  record.body = offset + reader.position();
  if (reader.failed() || record.body > record.end) {
    record.kind = Kind::kShort;
    return record;
  }
  const uint64_t debug_frame_cie_id = long_id ? UINT64_MAX : UINT32_MAX;
  record.kind = id == (eh_frame ? 0 : debug_frame_cie_id) ? Kind::kCie : Kind::kFde;
  // In .eh_frame it is the distance back from itself; a wrong one wraps to beyond the section.
  record.cie = eh_frame ? id_offset - id : id;
  return record;
}

CfiFault FrameRecords::ScanFde(uint64_t offset, const Record& record, std::vector<FdeRange>& fdes) {
  if (record.end - record.body > FrameBytes::kMaxLength) return CfiFault::kLength;
  const Cie& cie = FindCie(record.cie);
  if (cie.fault != CfiFault::kNone) return cie.fault;
  const Fde fde = ReadFde(record, cie, kMaxFdeRangeBytes);
  if (!fde.has_range) return CfiFault::kTruncated;
  if (IsDiscarded(fde.begin_elf_vaddr) || fde.bytes == 0) {
    ++stats_->discarded_fdes;
    return CfiFault::kNone;
  }
  // A function of 4 GiB is none.
  if (fde.bytes > UINT32_MAX || fde.begin_elf_vaddr > UINT64_MAX - fde.bytes) {
    return CfiFault::kAddress;
  }
  fdes.push_back({fde.begin_elf_vaddr, static_cast<uint32_t>(fde.bytes), Rank(offset)});
  ++stats_->fdes;
  return CfiFault::kNone;
}

Status FrameRecords::Run(const FdePiece& piece, FrameProgram& program) {
  const Record record = ReadRecord(piece.fde.rank & ~kDebugFrameRank);
  const Cie& cie = FindCie(record.cie);
  const Fde fde = ReadFde(record, cie, FrameBytes::kMaxLength);
  if (!bytes_.status()) return bytes_.status();
  const CodeRange wanted = {piece.begin_elf_vaddr, piece.end_elf_vaddr};
  if (!fde.has_program) {
    program.Leave(wanted);
    if (piece.first) stats_->Count(CfiFault::kTruncated);
    return OkStatus();
  }
  const CfiFault fault = program.Run(fde.instructions, cie, fde.begin_elf_vaddr, wanted);
  // An FDE in pieces meets its fault in each, but counts once.
  if (fault != CfiFault::kNone && (piece.first || program.location() >= piece.begin_elf_vaddr)) {
    stats_->Count(fault);
  }
  return OkStatus();
}

const Cie& FrameRecords::FindCie(uint64_t offset) {
  // Records are multiples of 4 bytes long, mostly of 8.
  CachedCie& slot = cies_[(offset / 4 + offset / 256) % cies_.size()];
  if (slot.key != offset + 1) slot = {offset + 1, ReadCie(offset)};
  return slot.cie;
}

Cie FrameRecords::ReadCie(uint64_t offset) {
  Cie missing;
  missing.fault = CfiFault::kCie;
  if (offset >= section_.size) return missing;
  const Record record = ReadRecord(offset);
  if (record.kind != Kind::kCie || record.end - record.body > kMaxCieBytes) return missing;
  const auto length = static_cast<size_t>(record.end - record.body);
  return ParseCie(bytes_.Get(record.body, length), section_.elf_vaddr + record.body);
}

FrameRecords::Fde FrameRecords::ReadFde(const Record& record, const Cie& cie, uint64_t length) {
  length = std::min(length, record.end - record.body);
  const uint64_t elf_vaddr = section_.elf_vaddr + record.body;
  ByteReader reader(bytes_.Get(record.body, static_cast<size_t>(length)));
  Fde fde;
  fde.begin_elf_vaddr =
      ReadEncodedPointer(reader, cie.pointer_encoding, {.reader_elf_vaddr = elf_vaddr});
  // How long the code is has the same form, but is relative to nothing.
  fde.bytes = ReadEncodedPointer(reader, cie.pointer_encoding & kPointerFormMask, {});
  fde.has_range = !reader.failed();
  if (cie.has_augmentation_data) reader.Bytes(reader.Uleb());
  fde.instructions.elf_vaddr = elf_vaddr + reader.position();
  fde.instructions.bytes = reader.Bytes(reader.remaining());
  fde.has_program = !reader.failed();
  return fde;
}

}  // namespace firetower::symbolizer
