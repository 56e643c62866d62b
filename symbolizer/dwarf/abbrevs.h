// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/forms.h"

namespace firetower::symbolizer::dwarf {

// The shape of an entry (DWARF 5, 7.5.3): its tag, and the attributes it has, in order.
struct Abbrev {
  uint16_t tag = 0;
  bool has_children = false;
  bool has_code = false;  // DW_AT_low_pc or DW_AT_ranges
  uint32_t first = 0;     // in the table's list of attributes
  uint32_t count = 0;
  uint32_t fixed_bytes = 0;  // of all attributes, if is_fixed
  bool is_fixed = false;
  // Bytes in front of DW_AT_sibling, a reference of four bytes; -1: none that is found so easily.
  int32_t sibling_at = -1;
};

// The shapes of one unit's entries. At most kMaxCodes of them: compilers number from 1.
class AbbrevTable {
 public:
  static constexpr uint64_t kMaxCodes = 1u << 18;

  // `bytes` from the unit's first shape on; they may go on behind its last. kCorrupt when they end
  // before it.
  static Result<AbbrevTable> Parse(std::span<const std::byte> bytes, UnitFormat format);

  // How long they were.
  size_t parsed_bytes() const { return parsed_bytes_; }
  // Null for a code that was not declared.
  const Abbrev* Find(uint64_t code) const {
    return code < by_code_.size() && by_code_[code].tag != 0 ? &by_code_[code] : nullptr;
  }
  std::span<const AttributeShape> Attributes(const Abbrev& abbrev) const {
    return std::span(attributes_).subspan(abbrev.first, abbrev.count);
  }

 private:
  void Measure(Abbrev& abbrev, UnitFormat format) const;

  std::vector<Abbrev> by_code_;
  std::vector<AttributeShape> attributes_;
  size_t parsed_bytes_ = 0;
};

}  // namespace firetower::symbolizer::dwarf
