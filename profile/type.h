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
  // Returns the sample types by pprof's conventions: count first, the main value last. Memory has
  // what is in use at the end.
  std::vector<ValueType> SampleTypes() const;
  // Returns the value that is meant where none is named: the last one, and of memory what is
  // allocated, because what is in use is followed where a policy asks for it.
  ValueType MainValue() const;
  ValueType PeriodType() const;

  bool operator==(const ProfileType&) const = default;
};

// Tells whether a value is of a moment: of the same stacks at two moments only the later one
// counts, and different processes' add up.
bool IsLevel(std::string_view sample_type);

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
// Parses our own spelling, also with a value (`memory:inuse_space`), or a Pyroscope id. kInvalid
// lists the allowed names and the nearest one.
Result<TypeSelection> ParseTypeSelection(std::string_view text);

}  // namespace firetower::profile
