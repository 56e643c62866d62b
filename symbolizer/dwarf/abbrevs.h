// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/forms.h"

namespace firetower::symbolizer::dwarf {

// An abbreviation (DWARF 5, 7.5.3): an entry's tag and its attributes, in order.
struct Abbrev {
  uint16_t tag = 0;
  bool has_children = false;
  bool has_code = false;  // DW_AT_low_pc or DW_AT_ranges
  uint32_t first = 0;     // in the table's list of attributes
  uint32_t count = 0;
  uint32_t fixed_bytes = 0;  // of all attributes, if is_fixed
  bool is_fixed = false;
  // The number of bytes before DW_AT_sibling if it is a reference of four bytes behind attributes
  // of fixed size; else -1.
  int32_t sibling_at = -1;
};

// The abbreviations of one unit. At most kMaxCodes of them: compilers number from 1.
class AbbrevTable {
 public:
  static constexpr uint64_t kMaxCodes = 1u << 18;

  // Parses a table. `bytes` begin with the unit's first abbreviation and may continue behind its
  // last one. kCorrupt: they end before the table does.
  static Result<AbbrevTable> Parse(std::span<const std::byte> bytes, UnitFormat format);

  // The length of the parsed bytes.
  size_t parsed_bytes() const { return parsed_bytes_; }
  // Returns null for a code that was not declared.
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
