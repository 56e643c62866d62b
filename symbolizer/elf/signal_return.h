// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// Searches for the code that signal handlers return to, `mov $15, %rax; syscall` (rt_sigreturn), in
// files that do not describe it. musl's copy has neither call frame information nor a dynamic
// symbol. GDB and libgcc recognise it by the same instructions, because no other code may run them.
//
// Bounded for the whole file: nothing is found beyond kMaxBytes or kMaxFound. A file that needs
// other libraries is not searched, because its signals return to the C library. The other files are
// C libraries, and programs that are statically linked with one. `file` must outlive this.
class SignalReturnSearch {
 public:
  static constexpr uint64_t kBytes = 9;  // of the two instructions
  // musl is 400 KiB of code, and a program that is linked with all of it rarely has 8 MiB more that
  // nothing describes. That much takes some 2 ms.
  static constexpr uint64_t kMaxBytes = 8u << 20;
  static constexpr uint32_t kMaxFound = 4;  // a file has one

  explicit SignalReturnSearch(const ElfFile& file);

  // Returns the first match that begins and ends in [begin, end). Unreadable bytes match nothing.
  std::optional<uint64_t> FindIn(uint64_t begin_elf_vaddr, uint64_t end_elf_vaddr);

 private:
  struct Code {
    uint64_t begin_elf_vaddr = 0;
    uint64_t end_elf_vaddr = 0;
    uint64_t file_offset = 0;
  };
  void AddCode(uint64_t elf_vaddr, uint64_t size, uint64_t file_offset);
  std::optional<uint64_t> FindInFile(uint64_t file_offset, uint64_t size);

  const ElfFile* file_;
  std::vector<Code> code_;
  uint64_t bytes_left_ = kMaxBytes;
  uint32_t finds_left_ = kMaxFound;
  std::vector<std::byte> buffer_;
};

}  // namespace firetower::symbolizer
