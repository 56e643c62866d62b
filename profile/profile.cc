// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::profile {

Profile::Profile() { strings_.Append({}); }

Sample Profile::sample(uint32_t index) const {
  const SampleRecord& record = samples_[index];
  size_t width = meta_.sample_types.size();
  return {.locations = stacks_.Get(record.stack),
          .values = {values_.data() + index * width, width},
          .labels = labels_.Get(record.labels)};
}

Location Profile::location(uint32_t index) const {
  const LocationRecord& record = locations_[index];
  return {.mapping = record.mapping,
          .address = record.address,
          .is_folded = record.is_folded != 0,
          .lines = lines_.Get(record.lines)};
}

uint32_t Profile::DefaultValueIndex() const {
  auto count = static_cast<uint32_t>(meta_.sample_types.size());
  if (count == 0) return 0;
  uint32_t found = FindValueIndex(meta_.default_sample_type);
  return found < count ? found : count - 1;
}

uint32_t Profile::FindValueIndex(std::string_view type) const {
  auto is_type = [&](const ValueType& candidate) { return candidate.type == type; };
  return static_cast<uint32_t>(std::ranges::find_if(meta_.sample_types, is_type) -
                               meta_.sample_types.begin());
}

int64_t Profile::Total(uint32_t value_index) const {
  int64_t total = 0;
  for (size_t i = value_index; i < values_.size(); i += meta_.sample_types.size()) {
    total = SaturatingAdd(total, values_[i]);
  }
  return total;
}

std::string Profile::FrameName(const Location& location, size_t line) const {
  if (line < location.lines.size()) {
    const Function& named = function(location.lines[line].function);
    std::string_view name = string(named.name);
    if (name.empty()) name = string(named.system_name);
    if (!name.empty()) return std::string(name);
  }
  if (location.mapping == kNoMapping) return fmt::format("{:#x}", location.address);
  const Mapping& from = mapping(location.mapping);
  std::string_view path = string(from.filename);
  std::string_view base = path.substr(path.rfind('/') + 1);
  if (base.size() > 1 && base.front() == '[' && base.back() == ']') {
    base = base.substr(1, base.size() - 2);  // [vdso] stays [vdso], not [[vdso]]
  }
  uint64_t offset = location.address - from.memory_start + from.file_offset;
  return fmt::format("[{}]+{:#x}", base.empty() ? "unknown" : base, offset);
}

bool Profile::IsKernel(const Location& location) const {
  if (location.address >> 63 != 0) return true;
  return location.mapping != kNoMapping &&
         string(mapping(location.mapping).filename).starts_with("[kernel");
}

size_t Profile::bytes() const {
  return strings_.bytes() + mappings_.bytes() + functions_.bytes() + lines_.bytes() +
         locations_.bytes() + stacks_.bytes() + labels_.bytes() + samples_.bytes() +
         values_.bytes();
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace firetower::profile
