// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/encoded_pointer.h"

namespace firetower::symbolizer {

namespace {

uint64_t ReadForm(ByteReader& reader, uint8_t form) {
  auto extended = [](int64_t value) { return static_cast<uint64_t>(value); };
  switch (form) {
    case kPointerAbsolute:
    case kPointerUdata8:
    case kPointerSdata8:
      return reader.Fixed<uint64_t>();
    case kPointerUleb128:
      return reader.Uleb();
    case kPointerUdata2:
      return reader.Fixed<uint16_t>();
    case kPointerUdata4:
      return reader.Fixed<uint32_t>();
    case kPointerSleb128:
      return extended(reader.Sleb());
    case kPointerSdata2:
      return extended(reader.Fixed<int16_t>());
    case kPointerSdata4:
      return extended(reader.Fixed<int32_t>());
    default:
      return 0;
  }
}

}  // namespace

bool IsCodePointerEncoding(uint8_t encoding) {
  if (encoding == kPointerAligned) return true;
  const uint8_t form = encoding & kPointerFormMask;
  const bool known = form <= kPointerUdata8 || (form >= kPointerSleb128 && form <= kPointerSdata8);
  const int relative = encoding & ~kPointerFormMask;  // also the bit for indirect
  return known && (relative == kPointerAbsolute || relative == kPointerPcRelative);
}

uint64_t ReadAnyEncodedPointer(ByteReader& reader, uint8_t encoding, const PointerBase& base) {
  const uint64_t field_elf_vaddr = base.reader_elf_vaddr + reader.position();
  if (encoding == kPointerAligned) {
    // A plain address at the next multiple of its size.
    reader.Bytes((0 - field_elf_vaddr) % sizeof(uint64_t));
    return reader.Fixed<uint64_t>();
  }
  const uint64_t value = ReadForm(reader, encoding & kPointerFormMask);
  // A stored 0 is the null pointer, whatever the base is. The C++ runtime reads it in the same way.
  if (value == 0) return 0;
  switch (encoding & kPointerBaseMask) {
    case kPointerPcRelative:
      return field_elf_vaddr + value;
    case kPointerDataRelative:
      return base.data_elf_vaddr + value;
    default:
      return value;
  }
}

}  // namespace firetower::symbolizer
