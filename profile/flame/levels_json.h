// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "profile/flame/flame.h"

namespace firetower::profile {

// Returns the answer of /api/v1/flame (docs/reference/http-api.md), which the page also embeds.
// `type` is the profile type's name and may be empty.
//
// `levels` has Pyroscope's form: a flat list of integers for each level. A bar has four (the
// distance from the end of the bar before, total, self, name), in a diff seven (distance, total and
// self of the left side, then of the right side, and the name). Integers may pass 2^53.
std::string FlameLevelsJson(const Flame& flame, std::string_view type);

// Returns the graph as rows in depth-first order with `level`, `value`, `self` and `label`, in a
// diff also `valueRight` and `selfRight`: the input of Grafana's flame graph panel.
std::string FlameRowsJson(const Flame& flame, std::string_view type);

}  // namespace firetower::profile
