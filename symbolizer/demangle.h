// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::symbolizer {

// Longer names are not demangled, and longer results are refused: names come from profiled files,
// and a name of 200 bytes can demangle to 2^60.
inline constexpr size_t kMaxMangledBytes = 4096;
inline constexpr size_t kMaxDemangledBytes = 16384;

// Returns a name as the programmer wrote it: demangles C++ (Itanium) and Rust (v0, and legacy
// without its hash), and returns other names unchanged. Takes microseconds; callers cache the
// result.
std::string Demangle(std::string_view mangled);

// Shortens a demangled name for a metric label: drops template arguments, parameters and return
// type, and cuts it to kMaxLabelBytes with "~" and a hash of the whole. Go and kernel names are
// only cut.
inline constexpr size_t kMaxLabelBytes = 120;
std::string SimplifyName(std::string_view demangled);

}  // namespace firetower::symbolizer
