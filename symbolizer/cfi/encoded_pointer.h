// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

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
  uint64_t reader_elf_vaddr = 0;           // of the reader's first byte
  std::optional<uint64_t> data_elf_vaddr;  // .eh_frame_hdr's, inside of it
};

// Null for an encoding that is not supported: text and function relative, indirect, unknown forms.
// Bytes that end early show in the reader.
std::optional<uint64_t> ReadEncodedPointer(ByteReader& reader, uint8_t encoding,
                                           const PointerBase& base);

}  // namespace firetower::symbolizer
