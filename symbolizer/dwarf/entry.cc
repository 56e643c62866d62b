// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/entry.h"

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

Value* Slot(Entry& entry, uint16_t attribute) {
  switch (attribute) {
    case kAtLowPc:
      return &entry.low_pc;
    case kAtHighPc:
      return &entry.high_pc;
    case kAtRanges:
      return &entry.ranges;
    case kAtAbstractOrigin:
    case kAtSpecification:
      return &entry.origin;
    case kAtName:
      return &entry.name;
    case kAtLinkageName:
    case kAtMipsLinkageName:
      return &entry.linkage_name;
    case kAtDeclLine:
      return &entry.decl_line;
    case kAtCallFile:
      return &entry.call_file;
    case kAtCallLine:
      return &entry.call_line;
    case kAtCallColumn:
      return &entry.call_column;
    case kAtStmtList:
      return &entry.stmt_list;
    case kAtCompDir:
      return &entry.comp_dir;
    case kAtLanguage:
      return &entry.language;
    case kAtStrOffsetsBase:
      return &entry.str_offsets_base;
    case kAtAddrBase:
      return &entry.addr_base;
    case kAtRnglistsBase:
      return &entry.rnglists_base;
    case kAtDwoName:
    case kAtGnuDwoName:
      return &entry.dwo_name;
    default:
      return nullptr;
  }
}

}  // namespace

Entry ReadEntry(ByteReader& reader, const Abbrev& abbrev, const AbbrevTable& table,
                UnitFormat format) {
  Entry entry;
  for (const AttributeShape& shape : table.Attributes(abbrev)) {
    Value* slot = Slot(entry, shape.name);
    if (slot == nullptr) {
      SkipValue(reader, shape.form, format);
    } else {
      *slot = ReadValue(reader, shape, format);
    }
  }
  return entry;
}

}  // namespace firetower::symbolizer::dwarf
