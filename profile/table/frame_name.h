// SPDX-License-Identifier: Apache-2.0
// Formats the names of frames, for a Profile and for a pprof file that is being read.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace firetower::profile {

// Returns the text of Profile::FrameName for any source with a Profile's accessors.
template <typename Source>
std::string FrameNameOf(const Source& source, const Location& location, size_t line) {
  if (line < location.lines.size()) {
    const Function& named = source.function(location.lines[line].function);
    std::string_view name = source.string(named.name);
    if (name.empty()) name = source.string(named.system_name);
    if (!name.empty()) return std::string(name);
  }
  if (location.mapping == kNoMapping) return fmt::format("{:#x}", location.address);
  const Mapping& from = source.mapping(location.mapping);
  std::string_view path = source.string(from.filename);
  std::string_view base = path.substr(path.rfind('/') + 1);
  if (base.size() > 1 && base.front() == '[' && base.back() == ']') {
    base = base.substr(1, base.size() - 2);  // [vdso] stays [vdso], not [[vdso]]
  }
  const uint64_t offset = location.address - from.memory_start + from.file_offset;
  return fmt::format("[{}]+{:#x}", base.empty() ? "unknown" : base, offset);
}

// Tells whether a frame is the kernel's, as Profile::IsKernel does.
template <typename Source>
bool IsKernelFrame(const Source& source, const Location& location) {
  if (location.address >> 63 != 0) return true;
  return location.mapping != kNoMapping &&
         source.string(source.mapping(location.mapping).filename).starts_with("[kernel");
}

// The function of a frame that replaces stacks which were cut because they are too light. Other
// tools show its name; its system name distinguishes it from a real function with that name.
inline constexpr std::string_view kOtherName = "other";
inline constexpr std::string_view kOtherSystemName = "[firetower.other]";

// Tells whether a location is such a frame.
template <typename Source>
bool IsOtherFrame(const Source& source, const Location& location) {
  return location.mapping == kNoMapping && location.address == 0 && location.lines.size() == 1 &&
         source.string(source.function(location.lines[0].function).system_name) == kOtherSystemName;
}

}  // namespace firetower::profile
