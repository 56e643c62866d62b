// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbolizer/cfi/byte_reader.h"

namespace firetower::symbolizer {

// DW_EH_PE_*: how an address is written (LSB Core, "DWARF Exception Header Encoding"). The low
// four bits are the form, the next three what it is relative to.
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

// What a pointer may be relative to.
struct PointerBase {
  uint64_t reader_elf_vaddr = 0;  // of the reader's first byte
  uint64_t data_elf_vaddr = 0;    // of .eh_frame_hdr, inside of it
};

// Whether addresses of functions can be read so. Not: text, data and function relative ones, which
// x86-64 has no use for there, indirect ones and unknown forms.
bool IsCodePointerEncoding(uint8_t encoding);

// 0 for an unknown form. Bytes that end early show in the reader.
uint64_t ReadAnyEncodedPointer(ByteReader& reader, uint8_t encoding, const PointerBase& base);

inline uint64_t ReadEncodedPointer(ByteReader& reader, uint8_t encoding, const PointerBase& base) {
  // What all compilers for x86-64 write for addresses and, relative to nothing, for lengths.
  if ((encoding & ~kPointerPcRelative) != kPointerSdata4) {
    return ReadAnyEncodedPointer(reader, encoding, base);
  }
  const uint64_t field_elf_vaddr = base.reader_elf_vaddr + reader.position();
  const auto value = static_cast<uint64_t>(int64_t{reader.Fixed<int32_t>()});
  const bool relative = (encoding & kPointerPcRelative) != 0 && value != 0;
  return relative ? field_elf_vaddr + value : value;
}

}  // namespace firetower::symbolizer
