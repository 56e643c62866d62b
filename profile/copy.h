// SPDX-License-Identifier: Apache-2.0
// Copying what a Profile holds, or a pprof file that is being read, into a builder.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::profile {

// Where a mapping went, and what its addresses need added to lie in it there.
struct MovedMapping {
  uint32_t index = kNoMapping;
  uint64_t move = 0;
};

// No change to a sample on its way; what CopyInto calls with each one's values and labels.
inline void KeepSample(std::vector<int64_t>& /*values*/, std::vector<Label>& /*labels*/) {}

// `map_mapping(mapping)` says where a mapping goes, its texts being the builder's already;
// `change(values, labels)` may change a sample, its labels being the builder's already. False when
// a limit of the builder was reached: the rest is left out.
template <typename Source, typename MapMapping, typename Change>
bool CopyInto(Source& source, const MapMapping& map_mapping, const Change& change,
              ProfileBuilder& builder) {
  std::vector<StringId> strings(source.string_count());
  for (StringId i = 0; i < strings.size(); ++i) strings[i] = builder.AddString(source.string(i));
  std::vector<MovedMapping> mappings(source.mapping_count());
  for (uint32_t i = 0; i < mappings.size(); ++i) {
    Mapping mapping = source.mapping(i);
    mapping.filename = strings[mapping.filename];
    mapping.build_id = strings[mapping.build_id];
    mappings[i] = map_mapping(mapping);
  }
  std::vector<uint32_t> functions(source.function_count());
  for (uint32_t i = 0; i < functions.size(); ++i) {
    Function from = source.function(i);
    from.name = strings[from.name];
    from.system_name = strings[from.system_name];
    from.filename = strings[from.filename];
    functions[i] = builder.AddFunction(from);
  }
  std::vector<uint32_t> locations(source.location_count());
  std::vector<Line> lines;
  for (uint32_t i = 0; i < locations.size(); ++i) {
    Location from = source.location(i);
    lines.clear();
    for (const Line& line : from.lines) {
      lines.push_back({functions[line.function], line.column, line.line});
    }
    MovedMapping to = from.mapping == kNoMapping ? MovedMapping{} : mappings[from.mapping];
    locations[i] = builder.AddLocation(to.index, from.address + to.move, lines, from.is_folded);
  }
  std::vector<uint32_t> stack;
  std::vector<int64_t> values;
  std::vector<Label> labels;
  for (uint32_t i = 0; i < source.sample_count(); ++i) {
    Sample from = source.sample(i);
    stack.clear();
    for (uint32_t location : from.locations) stack.push_back(locations[location]);
    labels.assign(from.labels.begin(), from.labels.end());
    for (Label& label : labels) {
      label.key = strings[label.key];
      label.string_value = strings[label.string_value];
      label.unit = strings[label.unit];
    }
    values.assign(from.values.begin(), from.values.end());
    change(values, labels);
    if (!builder.AddSample(stack, values, labels)) return false;
  }
  return true;
}

}  // namespace firetower::profile
