// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <algorithm>

#include "profile/table/frame_name.h"

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

std::optional<uint32_t> ValueIndexOf(const Meta& meta, std::string_view type) {
  const std::vector<ValueType>& types = meta.sample_types;
  auto find = [&](std::string_view name) {
    return static_cast<uint32_t>(std::ranges::find(types, name, &ValueType::type) - types.begin());
  };
  const auto count = static_cast<uint32_t>(types.size());
  uint32_t found = find(type.empty() ? meta.default_sample_type : type);
  if (found == count && type.empty() && count > 0) found = count - 1;
  return found < count ? std::optional(found) : std::nullopt;
}

std::string Profile::FrameName(const Location& location, size_t line) const {
  return FrameNameOf(*this, location, line);
}

bool Profile::IsKernel(const Location& location) const { return IsKernelFrame(*this, location); }

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
