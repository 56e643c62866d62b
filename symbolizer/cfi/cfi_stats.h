// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace firetower::symbolizer {

// The reason why an FDE, or the rest of one, has no rows.
enum class CfiFault : uint8_t {
  kNone,
  kLength,        // a record longer than its section, or than any real one; the latter is skipped
  kCie,           // its CIE is not there or cannot be read
  kAugmentation,  // a letter that we do not know may change what the rest means
  kEncoding,      // an address in a form that x86-64 files do not use
  kAddress,       // its range wraps, or its program moves backwards
  kTruncated,     // it ends inside of an instruction
  kOpcode,        // an instruction that is not x86-64's
  kState,         // a state stack that over- or underflows, an offset to a CFA that has none
  kOverlap,       // cut into more than 16 pieces by others
  kCount,
};
std::string_view CfiFaultName(CfiFault fault);

// Counters about the call frame information of one file.
struct CfiStats {
  uint64_t fdes = 0;              // that describe code, the bad ones among them
  uint64_t discarded_fdes = 0;    // of sections that the linker threw away
  uint64_t raw_rows = 0;          // before equal neighbours merged
  uint64_t rows = 0;              // handed to the sink
  uint64_t unsupported_rows = 0;  // raw ones whose CFA or return address has no known shape
  uint64_t go_functions = 0;      // of .gopclntab, the damaged ones among them
  uint64_t bad_go_functions = 0;
  bool compressed_debug_frame = false;  // there is one; it was not read
  std::array<uint64_t, static_cast<size_t>(CfiFault::kCount)> faults{};  // FDEs by reason

  void Count(CfiFault fault) { ++faults[static_cast<size_t>(fault)]; }
  uint64_t bad_fdes() const { return std::accumulate(faults.begin(), faults.end(), uint64_t{0}); }
};

}  // namespace firetower::symbolizer
