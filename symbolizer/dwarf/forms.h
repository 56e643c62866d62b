// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbolizer/cfi/byte_reader.h"

namespace firetower::symbolizer::dwarf {

// The format of a unit's numbers.
struct UnitFormat {
  uint8_t version = 0;
  uint8_t address_size = 8;
  uint8_t offset_size = 4;  // 8 in the 64-bit format
  bool operator==(const UnitFormat&) const = default;
};

struct AttributeShape {
  uint16_t name = 0;
  uint16_t form = 0;
  int64_t implicit = 0;  // the value of DW_FORM_implicit_const
};

// An attribute's value: a number, offset or index, according to its form. For DW_FORM_string it is
// the position of the text in the unit's bytes.
struct Value {
  uint16_t form = 0;  // 0: the attribute is not there
  uint64_t number = 0;
  bool has() const { return form != 0; }
};

// Returns the number of bytes of a form whose values all have the same size; -1 for other and for
// unknown forms.
int FixedSize(uint16_t form, UnitFormat format);

// Reads a value. An unknown form sets the reader to failed.
Value ReadValue(ByteReader& reader, const AttributeShape& shape, UnitFormat format);
void SkipValue(ByteReader& reader, uint16_t form, UnitFormat format);

// Reads a number of 1 to 8 bytes.
uint64_t ReadSized(ByteReader& reader, unsigned bytes);

}  // namespace firetower::symbolizer::dwarf
