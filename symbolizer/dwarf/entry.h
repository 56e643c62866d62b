// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/dwarf/abbrevs.h"
#include "symbolizer/dwarf/forms.h"

namespace firetower::symbolizer::dwarf {

// The attributes of a debugging information entry that this module reads.
struct Entry {
  // Attributes of functions and inlined calls.
  Value low_pc, high_pc, ranges;
  Value origin;  // DW_AT_abstract_origin or DW_AT_specification: has the other attributes
  Value name, linkage_name, decl_line;
  Value call_file, call_line, call_column;
  // Attributes of units.
  Value stmt_list, comp_dir, language, str_offsets_base, addr_base, rnglists_base, dwo_name;
};

// Reads the attributes that follow an entry's code.
Entry ReadEntry(ByteReader& reader, const Abbrev& abbrev, const AbbrevTable& table,
                UnitFormat format);
inline void SkipEntry(ByteReader& reader, const Abbrev& abbrev, const AbbrevTable& table,
                      UnitFormat format) {
  if (abbrev.is_fixed) {
    reader.Bytes(abbrev.fixed_bytes);
    return;
  }
  for (const AttributeShape& shape : table.Attributes(abbrev)) {
    SkipValue(reader, shape.form, format);
  }
}

}  // namespace firetower::symbolizer::dwarf
