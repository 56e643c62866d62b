// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::symbolizer {

// Names longer than this are not demangled, and longer results are refused: names come from files
// of the profiled, and a name of 200 bytes can demangle to 2^60.
inline constexpr size_t kMaxMangledBytes = 4096;
inline constexpr size_t kMaxDemangledBytes = 16384;

// A name as a programmer wrote it: C++ (Itanium) and Rust (legacy without its hash, and v0) are
// demangled, anything else comes back as it is. Costs microseconds; callers keep a memo.
std::string Demangle(std::string_view mangled);

// The demangled name for a metric label: without template arguments, parameters and return type,
// at most kMaxLabelBytes, with "~" and a hash of the whole where it was cut. Go and kernel names
// come back as they are, apart from the cut.
inline constexpr size_t kMaxLabelBytes = 120;
std::string SimplifyName(std::string_view demangled);

}  // namespace firetower::symbolizer
