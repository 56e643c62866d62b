// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

// Reads what is at an address of the object's own. kCorrupt: no segment of the file has it.
Status ReadElfAt(const symbolizer::ElfFile& file, uint64_t elf_vaddr, std::span<std::byte> to);

template <typename T>
Result<T> ReadElfValue(const symbolizer::ElfFile& file, uint64_t elf_vaddr) {
  T value{};
  RETURN_IF_ERROR(ReadElfAt(file, elf_vaddr, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

// Returns the difference of addresses and offsets of the file's code, which every part of it must
// share: addresses are then told by the mapping of any of them. Nothing: they do not share one.
Result<std::optional<uint64_t>> CodeBias(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
