// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

// Steps through one table of values over a function's code. The table has pairs of numbers: the
// change of the value (zigzag), and the number of bytes for which it then holds. A change of 0 ends
// the table, except in the first pair. After Next(), `value` holds in [begin, end).
class GoValues {
 public:
  GoValues(Pclntab& table, uint32_t values, uint64_t function_elf_vaddr)
      : bytes_(&table.values()), offset_(values), end_elf_vaddr_(function_elf_vaddr) {}

  // Returns false at the end of the table or of the file. Each step covers at least one byte of
  // code, so a function's size bounds the steps.
  bool Next() {
    // Offset 0 means that there is no table.
    if (offset_ == 0) return false;
    ByteReader reader(bytes_->Get(offset_, kMaxPairBytes));
    const auto change = static_cast<uint32_t>(reader.Uleb());
    if (change == 0 && !first_) return false;
    const auto length = static_cast<uint32_t>(reader.Uleb());
    if (reader.failed() || length == 0) return false;
    first_ = false;
    offset_ += reader.position();
    // Wraps around like the runtime's int32.
    const uint32_t difference = (change & 1) != 0 ? ~(change >> 1) : change >> 1;
    value_ = static_cast<int32_t>(static_cast<uint32_t>(value_) + difference);
    begin_elf_vaddr_ = end_elf_vaddr_;
    return !__builtin_add_overflow(end_elf_vaddr_, length, &end_elf_vaddr_);
  }

  int32_t value() const { return value_; }
  uint64_t begin_elf_vaddr() const { return begin_elf_vaddr_; }
  uint64_t end_elf_vaddr() const { return end_elf_vaddr_; }

 private:
  static constexpr size_t kMaxPairBytes = 10;  // two numbers of 32 bits

  FrameBytes* bytes_;
  uint64_t offset_;
  int32_t value_ = -1;
  uint64_t begin_elf_vaddr_ = 0;
  uint64_t end_elf_vaddr_;
  bool first_ = true;
};

// Returns the value at an address, or -1 if there is none; the runtime uses -1 in the same way.
inline int32_t GoValueAt(Pclntab& table, uint32_t values, const GoFunction& function,
                         uint64_t elf_vaddr) {
  GoValues cursor(table, values, function.begin_elf_vaddr);
  while (cursor.Next()) {
    if (elf_vaddr < cursor.end_elf_vaddr()) return cursor.value();
  }
  return -1;
}

}  // namespace firetower::symbolizer
