// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "profile/flame/flame.h"

namespace firetower::profile {

// The answer of /api/v1/flame in docs/reference/http-api.md, and what the page embeds. `type` is
// the profile type's name, may be empty.
//
// `levels` are Pyroscope's: a flat list of integers for each level, four a bar (x as the distance
// from the end of the bar before, total, self, name), seven in a diff (x, total and self of the
// left side, the same of the right one, name). Integers may pass 2^53.
std::string FlameLevelsJson(const Flame& flame, std::string_view type);

// The same as rows in depth-first order, of `level`, `value`, `self` and `label`, in a diff
// `valueRight` and `selfRight` too: what Grafana's flame graph panel reads.
std::string FlameRowsJson(const Flame& flame, std::string_view type);

}  // namespace firetower::profile
