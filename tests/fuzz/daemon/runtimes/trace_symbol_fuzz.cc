// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>

#include "base/check.h"
#include "daemon/runtimes/trace_symbol.h"
#include "symbolizer/random_access.h"

// Any bytes as a file with the variable of OTEP 4947: its place is told, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const firetower::symbolizer::MemorySource source(
      std::span(reinterpret_cast<const std::byte*>(data), size));
  const auto file = firetower::symbolizer::ElfFile::Open(source);
  if (!file) return 0;
  const auto found = firetower::daemon::FindTraceSymbol(*file);
  using Access = firetower::daemon::TraceSymbol::Access;
  if (found && *found && (*found)->access == Access::kExecutable) CHECK((*found)->offset < 0);
  return 0;
}
