// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/pick.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profile/builder.h"

namespace firetower::query::pyroscope {
namespace {

// Whether the frames of a stack begin so. Of a location the outermost function is the last line.
bool BeginsWith(const profile::Profile& profile, const profile::StackView& leaf_first,
                std::span<const std::string> call_site) {
  size_t at = 0;
  for (size_t i = leaf_first.size(); i-- > 0 && at < call_site.size();) {
    const profile::Location location = profile.location(leaf_first[i]);
    size_t line = std::max<size_t>(location.lines.size(), 1);
    while (line-- > 0 && at < call_site.size()) {
      if (profile.FrameName(location, line) != call_site[at]) return false;
      ++at;
    }
  }
  return at == call_site.size();
}

}  // namespace

profile::Profile Pick(const profile::Profile& profile, uint32_t value_index,
                      std::span<const std::string> call_site) {
  profile::Meta meta = profile.meta();
  meta.sample_types = {profile.sample_types()[value_index]};
  meta.default_sample_type.clear();
  profile::ProfileBuilder builder(std::move(meta));
  // As the builder holds each only once, ids stay what they were.
  for (profile::StringId id = 0; id < profile.string_count(); ++id)
    builder.AddString(profile.string(id));
  for (uint32_t i = 0; i < profile.mapping_count(); ++i) builder.AddMapping(profile.mapping(i));
  for (uint32_t i = 0; i < profile.function_count(); ++i) builder.AddFunction(profile.function(i));
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    const profile::Location location = profile.location(i);
    builder.AddLocation(location.mapping, location.address, location.lines, location.is_folded);
  }
  std::vector<uint32_t> stack;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const profile::Sample sample = profile.sample(i);
    const int64_t value = sample.values[value_index];
    if (value == 0 || !BeginsWith(profile, sample.locations, call_site)) continue;
    stack.assign(sample.locations.begin(), sample.locations.end());
    builder.AddSample(stack, {&value, 1}, sample.labels);
  }
  return std::move(builder).Build();
}

}  // namespace firetower::query::pyroscope
