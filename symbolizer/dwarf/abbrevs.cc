// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/abbrevs.h"

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

Result<AbbrevTable> AbbrevTable::Parse(std::span<const std::byte> bytes, UnitFormat format) {
  AbbrevTable table;
  ByteReader reader(bytes);
  while (const uint64_t code = reader.Uleb()) {
    Abbrev abbrev;
    abbrev.tag = static_cast<uint16_t>(reader.Uleb());
    abbrev.has_children = reader.U8() != 0;
    abbrev.first = static_cast<uint32_t>(table.attributes_.size());
    for (;;) {
      AttributeShape shape;
      shape.name = static_cast<uint16_t>(reader.Uleb());
      shape.form = static_cast<uint16_t>(reader.Uleb());
      if (shape.form == kFormImplicitConst) shape.implicit = reader.Sleb();
      if (shape.name == 0 && shape.form == 0) break;
      if (reader.failed()) break;
      table.attributes_.push_back(shape);
    }
    if (reader.failed()) break;
    abbrev.count = static_cast<uint32_t>(table.attributes_.size()) - abbrev.first;
    table.Measure(abbrev, format);
    if (code >= kMaxCodes) {
      return Error(ErrorCode::kExhausted, "a DWARF unit has too many kinds of entries");
    }
    if (code >= table.by_code_.size()) table.by_code_.resize(code + 1);
    table.by_code_[code] = abbrev;
  }
  if (reader.failed()) return Error(ErrorCode::kCorrupt, "DWARF abbreviations end too early");
  table.parsed_bytes_ = reader.position();
  return table;
}

void AbbrevTable::Measure(Abbrev& abbrev, UnitFormat format) const {
  abbrev.is_fixed = true;
  for (const AttributeShape& shape : Attributes(abbrev)) {
    if (shape.name == kAtLowPc || shape.name == kAtRanges) abbrev.has_code = true;
    if (shape.name == kAtSibling && shape.form == kFormRef4 && abbrev.is_fixed) {
      abbrev.sibling_at = static_cast<int32_t>(abbrev.fixed_bytes);
    }
    const int size = FixedSize(shape.form, format);
    if (size < 0) {
      abbrev.is_fixed = false;
    } else {
      abbrev.fixed_bytes += static_cast<uint32_t>(size);
    }
  }
}

}  // namespace firetower::symbolizer::dwarf
