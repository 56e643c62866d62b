// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

// How an ELF file tells where its variable otel_thread_ctx_v1 is, which each thread has of its own:
// the address of what that thread publishes of its trace (OTEP 4947: Thread Context).
struct TraceSymbol {
  // The forms of thread-local storage (U. Drepper, "ELF Handling For Thread-Local Storage";
  // A. Oliva, "RFC-TLSDESC-x86").
  enum class Access : uint8_t {
    kExecutable,  // `offset` from FS
    kOffset,      // the word in the slot is the offset from FS
    kDescriptor,  // the slot is a descriptor: its second word is this offset, or where to read more
    kModuleIndex,  // the slot has the number of the module, and behind it the offset in its block
  };
  Access access = Access::kExecutable;
  int64_t offset = 0;  // kExecutable: bytes from FS
  int64_t slot = 0;    // else: address of the slot, relative to the bias of the mapping of its code
  // kModuleIndex: set where the word behind the slot is of another variable of the file.
  std::optional<uint64_t> in_block = {};
};

// Finds the variable that the file defines, among the symbols that it exports. Nothing: it defines
// none, or no code of it reads the variable. kCorrupt: its tables are not what they say.
Result<std::optional<TraceSymbol>> FindTraceSymbol(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
