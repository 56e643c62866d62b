// SPDX-License-Identifier: Apache-2.0
// Copies the contents of a Profile, or of a pprof file that is being read, into a builder.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::profile {

// The new place of a mapping, and the difference that is added to its addresses.
struct MovedMapping {
  uint32_t index = kNoMapping;
  uint64_t move = 0;
};

// The default `change` of CopyInto: leaves a sample's values and labels as they are.
inline bool KeepSample(std::vector<int64_t>& /*values*/, std::vector<Label>& /*labels*/) {
  return true;
}
// The default `added` of CopyInto.
inline void IgnoreAdded(uint32_t /*sample*/) {}

// Copies `source` into a builder. `map_mapping(mapping)` returns a mapping's new place; the texts
// of its argument are already the builder's. `change(values, labels)` may change a sample; its
// labels are already the builder's; a sample for which it returns false is left out.
// `added(sample)` is called when a sample of the source was added. Returns false when a limit of
// the builder was reached: the rest is dropped.
template <typename Source, typename MapMapping, typename Change,
          typename Added = decltype(&IgnoreAdded)>
bool CopyInto(Source& source, const MapMapping& map_mapping, const Change& change,
              ProfileBuilder& builder, const Added& added = &IgnoreAdded) {
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
    if (!change(values, labels)) continue;
    if (!builder.AddSample(stack, values, labels)) return false;
    added(i);
  }
  return true;
}

}  // namespace firetower::profile
