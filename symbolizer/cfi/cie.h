// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/encoded_pointer.h"
#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// A common information entry: the part that many FDEs share.
struct Cie {
  CfiFault fault = CfiFault::kNone;  // set: it cannot be used, and so its FDEs cannot
  uint8_t pointer_encoding = kPointerAbsolute;
  bool has_augmentation_data = false;  // in it and its FDEs: 'z'
  uint32_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint64_t return_address_register = kDwarfReturnAddress;
  UnwindRule initial;
};

// Parses a CIE. `body` begins behind the CIE's id and ends where the record ends; it lies at
// `elf_vaddr`.
Cie ParseCie(std::span<const std::byte> body, uint64_t elf_vaddr);

}  // namespace firetower::symbolizer
