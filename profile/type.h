// SPDX-License-Identifier: Apache-2.0
// The types of profiles: `cpu`, `offcpu`, `lock`, `memory` or `event:<name>`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

enum class TypeKind : uint8_t { kCpu, kOffCpu, kLock, kMemory, kEvent };

struct ProfileType {
  TypeKind kind = TypeKind::kCpu;
  std::string event = {};  // of kEvent: `page-faults`, `sched:sched_switch`; else empty

  // Returns the name that users write: `cpu`, `event:page-faults`.
  std::string Name() const;
  // Returns a name for keys and file names, without '-', ':' and '/': `cpu`, `event.page_faults`.
  // Not reversible for events; the catalog row has Name().
  std::string FileToken() const;
  // Returns Pyroscope's `name:type:unit:period_type:period_unit` of the main value.
  std::string PyroscopeId() const;
  // Returns PyroscopeId() and, if the type has one, the id of the count that is first in
  // SampleTypes().
  std::vector<std::string> PyroscopeIds() const;
  // Returns the sample types by pprof's conventions: count first, the main value last.
  std::vector<ValueType> SampleTypes() const;
  ValueType PeriodType() const;

  bool operator==(const ProfileType&) const = default;
};

// The parts of a Pyroscope id. In a text with fewer parts the first ones are empty.
struct PyroscopeIdParts {
  std::string name = {};
  ValueType sample_type = {};
  ValueType period_type = {};
};
PyroscopeIdParts SplitPyroscopeId(std::string_view id);
// Returns the ids of all types and values except events, each type's main value first.
std::vector<std::string_view> KnownPyroscopeIds();

// A type together with one of its values, as Pyroscope's ids select it, for example
// memory:inuse_space. An empty sample_type means the main value.
struct TypeSelection {
  ProfileType type = {};
  std::string sample_type = {};
  bool operator==(const TypeSelection&) const = default;
};

// Parses our own spelling.
Result<ProfileType> ParseProfileType(std::string_view text);
// Parses our own spelling or a Pyroscope id. kInvalid lists the allowed names and the nearest one.
Result<TypeSelection> ParseTypeSelection(std::string_view text);

}  // namespace firetower::profile
