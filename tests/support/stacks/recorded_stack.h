// SPDX-License-Identifier: Apache-2.0
// A moment of a real thread, with all that a walk reads and the frames that another unwinder saw:
// text, a thing a line, numbers in hexadecimal.
//
//   about TEXT                      the program, and what saw its frames
//   registers IP SP BP R15 … DI     the 15 of struct pt_regs behind the first three
//   start ADDRESS                   the process's first word of stack
//   memory ADDRESS BYTES            of the stack
//   mapping START END OFFSET MODULE executable ones, in order; MODULE counts from 0, - for none
//   table MODULE FIRST_BLOCK        its unwind table, cut to the blocks its frames are in
//   blocks N*COUNT…                 index of each block's first row
//   rows ROW…
//   rules RULE…                     16 bytes each, as they lie in memory
//   frame ADDRESS                   from the leaf to the root, as in bpf/abi/record.h
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/unwind/packed_table.h"

namespace firetower::testing {

struct RecordedStack {
  struct Mapping {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t file_offset = 0;
    std::optional<size_t> module;
  };

  std::string about;
  uint64_t ip = 0;
  uint64_t sp = 0;
  uint64_t bp = 0;
  std::array<uint64_t, 15> registers{};
  uint64_t stack_start = 0;
  uint64_t memory_begin = 0;
  std::vector<std::byte> memory;
  std::vector<Mapping> mappings;
  std::vector<daemon::PackedTable> tables;  // by module; empty for one without
  std::vector<uint64_t> frames;
};

std::string WriteRecordedStack(const RecordedStack& stack);
// A line it does not know, or numbers that are none, are an error: nullopt.
std::optional<RecordedStack> ReadRecordedStack(std::string_view text);

// The part of a table that walks through these file offsets read.
daemon::PackedTable CutTable(const daemon::PackedTable& table,
                             const std::vector<uint64_t>& file_offsets);

}  // namespace firetower::testing
