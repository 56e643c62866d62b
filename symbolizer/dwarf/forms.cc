// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/forms.h"

#include <cstring>

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

void SkipText(ByteReader& reader) {
  // Bytes() of more than there is fails the reader, as a text without an end should.
  const std::span<const std::byte> rest = reader.Rest();
  const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
  reader.Bytes(end == nullptr
                   ? rest.size() + 1
                   : static_cast<size_t>(static_cast<const std::byte*>(end) - rest.data()) + 1);
}

uint64_t BlockSize(ByteReader& reader, uint16_t form) {
  switch (form) {
    case kFormBlock1:
      return reader.U8();
    case kFormBlock2:
      return reader.Fixed<uint16_t>();
    case kFormBlock4:
      return reader.Fixed<uint32_t>();
    default:
      return reader.Uleb();
  }
}

}  // namespace

uint64_t ReadSized(ByteReader& reader, unsigned bytes) {
  switch (bytes) {
    case 1:
      return reader.U8();
    case 2:
      return reader.Fixed<uint16_t>();
    case 4:
      return reader.Fixed<uint32_t>();
    case 8:
      return reader.Fixed<uint64_t>();
    default: {
      uint64_t value = 0;
      for (unsigned i = 0; i < bytes; ++i) value |= uint64_t{reader.U8()} << (8 * i);
      return value;
    }
  }
}

int FixedSize(uint16_t form, UnitFormat format) {
  switch (form) {
    case kFormFlagPresent:
    case kFormImplicitConst:
      return 0;
    case kFormData1:
    case kFormRef1:
    case kFormFlag:
    case kFormStrx1:
    case kFormAddrx1:
      return 1;
    case kFormData2:
    case kFormRef2:
    case kFormStrx2:
    case kFormAddrx2:
      return 2;
    case kFormStrx3:
    case kFormAddrx3:
      return 3;
    case kFormData4:
    case kFormRef4:
    case kFormStrx4:
    case kFormAddrx4:
    case kFormRefSup4:
      return 4;
    case kFormData8:
    case kFormRef8:
    case kFormRefSig8:
    case kFormRefSup8:
      return 8;
    case kFormData16:
      return 16;
    case kFormAddr:
      return format.address_size;
    case kFormRefAddr:  // version 2 has it as long as an address
      return format.version <= 2 ? format.address_size : format.offset_size;
    case kFormStrp:
    case kFormLineStrp:
    case kFormSecOffset:
    case kFormStrpSup:
    case kFormGnuRefAlt:
    case kFormGnuStrpAlt:
      return format.offset_size;
    default:
      return -1;
  }
}

void SkipValue(ByteReader& reader, uint16_t form, UnitFormat format) {
  const int size = FixedSize(form, format);
  if (size >= 0) {
    reader.Bytes(static_cast<uint64_t>(size));
    return;
  }
  switch (form) {
    case kFormString:
      SkipText(reader);
      return;
    case kFormBlock:
    case kFormBlock1:
    case kFormBlock2:
    case kFormBlock4:
    case kFormExprloc:
      reader.Bytes(BlockSize(reader, form));
      return;
    case kFormSdata:
    case kFormUdata:
    case kFormRefUdata:
    case kFormStrx:
    case kFormAddrx:
    case kFormLoclistx:
    case kFormRnglistx:
      reader.Uleb();
      return;
    case kFormIndirect: {
      const uint64_t actual = reader.Uleb();
      // One level, or a chain of them could be as long as the file.
      if (actual != kFormIndirect && actual != kFormImplicitConst && actual <= UINT16_MAX) {
        SkipValue(reader, static_cast<uint16_t>(actual), format);
        return;
      }
      break;
    }
    default:
      break;
  }
  reader.Bytes(UINT64_MAX);
}

Value ReadValue(ByteReader& reader, const AttributeShape& shape, UnitFormat format) {
  uint16_t form = shape.form;
  if (form == kFormIndirect) {
    const uint64_t actual = reader.Uleb();
    form = actual == kFormIndirect || actual == kFormImplicitConst || actual > UINT16_MAX
               ? uint16_t{0}
               : static_cast<uint16_t>(actual);
  }
  Value value{form, 0};
  const int size = FixedSize(form, format);
  switch (form) {
    case kFormFlagPresent:
      value.number = 1;
      return value;
    case kFormImplicitConst:
      value.number = static_cast<uint64_t>(shape.implicit);
      return value;
    case kFormSdata:
      value.number = static_cast<uint64_t>(reader.Sleb());
      return value;
    case kFormUdata:
    case kFormRefUdata:
    case kFormStrx:
    case kFormAddrx:
    case kFormRnglistx:
      value.number = reader.Uleb();
      return value;
    case kFormString:
      value.number = reader.position();
      break;
    default:
      if (size >= 1 && size <= 8) {
        value.number = ReadSized(reader, static_cast<unsigned>(size));
        return value;
      }
      break;
  }
  SkipValue(reader, form, format);
  return value;
}

}  // namespace firetower::symbolizer::dwarf
