// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

// Steps through one table of values over a function's code: pairs of numbers, how much the value
// changes (zigzag), how many bytes it then holds; a change of 0 ends it, but for the first.
// After Next(), `value` holds in [begin, end).
class GoValues {
 public:
  GoValues(Pclntab& table, uint32_t values, uint64_t function_elf_vaddr)
      : bytes_(&table.values()), offset_(values), end_elf_vaddr_(function_elf_vaddr) {}

  // False at the table's end, or where it does not go on in the file. Each step is a byte of code
  // at least, so that a function's size bounds them.
  bool Next() {
    // Offset 0 stands for no table.
    if (offset_ == 0) return false;
    ByteReader reader(bytes_->Get(offset_, kMaxPairBytes));
    const auto change = static_cast<uint32_t>(reader.Uleb());
    if (change == 0 && !first_) return false;
    const auto length = static_cast<uint32_t>(reader.Uleb());
    if (reader.failed() || length == 0) return false;
    first_ = false;
    offset_ += reader.position();
    // Wraps around as the runtime's int32 does.
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

// The value at an address; -1, which is what the runtime takes for none, if there is none.
inline int32_t GoValueAt(Pclntab& table, uint32_t values, const GoFunction& function,
                         uint64_t elf_vaddr) {
  GoValues cursor(table, values, function.begin_elf_vaddr);
  while (cursor.Next()) {
    if (elf_vaddr < cursor.end_elf_vaddr()) return cursor.value();
  }
  return -1;
}

}  // namespace firetower::symbolizer
