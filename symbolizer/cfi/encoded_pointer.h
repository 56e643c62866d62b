// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbolizer/cfi/byte_reader.h"

namespace firetower::symbolizer {

// DW_EH_PE_*: the encoding of an address (LSB Core, "DWARF Exception Header Encoding"). The low
// four bits give the form, the next three the base that the value is relative to.
enum PointerEncoding : uint8_t {
  kPointerAbsolute = 0x00,
  kPointerUleb128 = 0x01,
  kPointerUdata2 = 0x02,
  kPointerUdata4 = 0x03,
  kPointerUdata8 = 0x04,
  kPointerSleb128 = 0x09,
  kPointerSdata2 = 0x0a,
  kPointerSdata4 = 0x0b,
  kPointerSdata8 = 0x0c,
  kPointerFormMask = 0x0f,
  kPointerPcRelative = 0x10,
  kPointerDataRelative = 0x30,
  kPointerAligned = 0x50,
  kPointerBaseMask = 0x70,
  kPointerIndirect = 0x80,
  kPointerOmit = 0xff,
};

// The addresses that a pointer may be relative to.
struct PointerBase {
  uint64_t reader_elf_vaddr = 0;  // of the reader's first byte
  uint64_t data_elf_vaddr = 0;    // of .eh_frame_hdr, inside of it
};

// Tells whether addresses of functions can be read in this encoding. False for bases that x86-64
// has no use for here (text, data, function), for indirect pointers and for unknown forms.
bool IsCodePointerEncoding(uint8_t encoding);

// Reads a pointer in any encoding. Returns 0 for an unknown form. If the bytes end too early, the
// reader is marked as failed.
uint64_t ReadAnyEncodedPointer(ByteReader& reader, uint8_t encoding, const PointerBase& base);

inline uint64_t ReadEncodedPointer(ByteReader& reader, uint8_t encoding, const PointerBase& base) {
  // All compilers for x86-64 use this form for addresses and, without a base, for lengths.
  if ((encoding & ~kPointerPcRelative) != kPointerSdata4) {
    return ReadAnyEncodedPointer(reader, encoding, base);
  }
  const uint64_t field_elf_vaddr = base.reader_elf_vaddr + reader.position();
  const auto value = static_cast<uint64_t>(int64_t{reader.Fixed<int32_t>()});
  const bool relative = (encoding & kPointerPcRelative) != 0 && value != 0;
  return relative ? field_elf_vaddr + value : value;
}

}  // namespace firetower::symbolizer
