// SPDX-License-Identifier: Apache-2.0
// What a profile counts: `cpu`, `offcpu`, `lock`, `memory` or `event:<name>`.
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

  // As people write it: `cpu`, `event:page-faults`.
  std::string Name() const;
  // For keys and file names, no '-', ':' or '/': `cpu`, `event.page_faults`. Not reversible for
  // events; the catalog row has Name().
  std::string FileToken() const;
  // Pyroscope's `name:type:unit:period_type:period_unit` of the main value.
  std::string PyroscopeId() const;
  // That and, where it has one, the id of the count that comes first in SampleTypes().
  std::vector<std::string> PyroscopeIds() const;
  // Sample types by pprof's conventions, count first, the main value last.
  std::vector<ValueType> SampleTypes() const;
  ValueType PeriodType() const;

  bool operator==(const ProfileType&) const = default;
};

// Pyroscope's id in its parts. Of a text with fewer the first ones are empty.
struct PyroscopeIdParts {
  std::string name = {};
  ValueType sample_type = {};
  ValueType period_type = {};
};
PyroscopeIdParts SplitPyroscopeId(std::string_view id);
// Of all types and values but those of events, each type's main value first.
std::vector<std::string_view> KnownPyroscopeIds();

// A type together with one of its values, as Pyroscope's ids select: memory:inuse_space… Empty
// sample_type: the main value.
struct TypeSelection {
  ProfileType type = {};
  std::string sample_type = {};
  bool operator==(const TypeSelection&) const = default;
};

// Our spelling only.
Result<ProfileType> ParseProfileType(std::string_view text);
// Our spelling or a Pyroscope id. kInvalid lists what is allowed and the nearest spelling.
Result<TypeSelection> ParseTypeSelection(std::string_view text);

}  // namespace firetower::profile
