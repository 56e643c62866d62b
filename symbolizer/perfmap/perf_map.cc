// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map.h"

#include <algorithm>

#include "symbolizer/perfmap/perf_map_builder.h"

namespace firetower::symbolizer {

PerfMap PerfMap::Parse(std::string_view text) {
  PerfMapBuilder builder;
  builder.AddText(text);
  return std::move(builder).Finish();
}

std::optional<Symbol> PerfMap::Find(uint64_t abs_addr) const {
  auto above = std::upper_bound(starts_.begin(), starts_.end(), abs_addr);
  if (above == starts_.begin()) return std::nullopt;
  auto index = static_cast<size_t>(above - starts_.begin()) - 1;
  const Body& body = bodies_[index];
  if (abs_addr - starts_[index] >= body.size_bytes) return std::nullopt;
  return Symbol{names_.c_str() + body.name_offset, abs_addr - body.function_start};
}

size_t PerfMap::bytes() const {
  return sizeof(*this) + starts_.capacity() * sizeof(uint64_t) + bodies_.capacity() * sizeof(Body) +
         names_.capacity() + 1;
}

}  // namespace firetower::symbolizer
