// SPDX-License-Identifier: Apache-2.0
#include "profile/select/inverted.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/select/copied_tables.h"

namespace firetower::profile {

Profile Inverted(const Profile& from) {
  ProfileBuilder builder(Meta(from.meta()), {.max_samples = std::numeric_limits<uint32_t>::max(),
                                             .max_bytes = std::numeric_limits<size_t>::max()});
  const CopiedTables tables(from, builder);
  std::vector<uint32_t> locations;
  std::vector<Line> lines;
  for (uint32_t i = 0; i < from.location_count(); ++i) {
    const Location location = from.location(i);
    lines.clear();
    for (const Line& line : location.lines) lines.push_back(tables.LineOf(line));
    std::ranges::reverse(lines);
    locations.push_back(builder.AddLocation(tables.MappingOf(location), location.address, lines,
                                            location.is_folded));
  }
  std::vector<uint32_t> stack;
  for (uint32_t i = 0; i < from.sample_count(); ++i) {
    const Sample sample = from.sample(i);
    stack.clear();
    for (const uint32_t location : sample.locations) stack.push_back(locations[location]);
    std::ranges::reverse(stack);
    builder.AddSample(stack, sample.values, sample.labels);
  }
  return std::move(builder).Build();
}

}  // namespace firetower::profile
