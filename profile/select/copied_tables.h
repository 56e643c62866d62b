// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::profile {

// The places that mappings and functions of a profile have in a builder that makes another profile
// of its parts. Locations differ from use to use.
struct CopiedTables {
  std::vector<uint32_t> mappings = {};
  std::vector<uint32_t> functions = {};

  // Copies texts, mappings and functions of `from` into `builder`, which must be new: texts keep
  // their ids.
  CopiedTables(const Profile& from, ProfileBuilder& builder) {
    for (StringId id = 0; id < from.string_count(); ++id) builder.AddString(from.string(id));
    for (uint32_t i = 0; i < from.mapping_count(); ++i)
      mappings.push_back(builder.AddMapping(from.mapping(i)));
    for (uint32_t i = 0; i < from.function_count(); ++i)
      functions.push_back(builder.AddFunction(from.function(i)));
  }
  uint32_t MappingOf(const Location& location) const {
    return location.mapping == kNoMapping ? kNoMapping : mappings[location.mapping];
  }
  Line LineOf(const Line& line) const { return {functions[line.function], line.column, line.line}; }
};

}  // namespace firetower::profile
