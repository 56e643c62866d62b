// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace firetower::query {

// Writes the policy that an assistant describes, as YAML for people to read and apply. Nothing is
// applied. Fields: `name`, and as far as they are given `namespace` (without it the cluster kind),
// `workload` (KIND/NAME), `labels` (KEY=VALUE,…), `types` (cpu,offcpu,lock,memory), `frequency`
// (Hz), `when` (periodic, continuous or trigger), `processes` (names, which are mode Filter), and
// for a trigger `metric`, `above` (per cent) and `for_seconds`. kInvalid says which field is wrong,
// why and what it may be; what passes is valid by the definition of ProfilingPolicy
// (docs/reference/profiling-policy.md).
Result<std::string> ProposePolicy(const std::map<std::string, std::string>& fields);

}  // namespace firetower::query
