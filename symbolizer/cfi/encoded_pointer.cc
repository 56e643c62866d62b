// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/encoded_pointer.h"

namespace firetower::symbolizer {

namespace {

std::optional<uint64_t> ReadForm(ByteReader& reader, uint8_t form) {
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
      return std::nullopt;
  }
}

}  // namespace

std::optional<uint64_t> ReadEncodedPointer(ByteReader& reader, uint8_t encoding,
                                           const PointerBase& base) {
  if ((encoding & kPointerIndirect) != 0) return std::nullopt;
  const uint64_t field_elf_vaddr = base.reader_elf_vaddr + reader.position();
  uint64_t origin = 0;
  switch (encoding & kPointerBaseMask) {
    case kPointerAbsolute:
      break;
    case kPointerPcRelative:
      origin = field_elf_vaddr;
      break;
    case kPointerDataRelative:
      if (!base.data_elf_vaddr) return std::nullopt;
      origin = *base.data_elf_vaddr;
      break;
    case kPointerAligned:
      // A plain address at the next multiple of its size.
      if (encoding != kPointerAligned) return std::nullopt;
      reader.Bytes((0 - field_elf_vaddr) % sizeof(uint64_t));
      return reader.Fixed<uint64_t>();
    default:
      return std::nullopt;
  }
  std::optional<uint64_t> value = ReadForm(reader, encoding & kPointerFormMask);
  // As in the C++ runtime, a stored 0 is the null pointer, whatever it is relative to.
  if (value && *value != 0) *value += origin;
  return value;
}

}  // namespace firetower::symbolizer
