// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "profile/flame/flame.h"

namespace firetower::profile {

// A flame graph as one SVG file without a script: every bar of half a pixel or more (what is
// less is `other`), its name where there is room for it, and name, binary, value and share as its
// tooltip. Valid XML whatever bytes names hold. Errors: MakeFlame's, and kInvalid for a width out
// of range.
Result<std::string> EncodeSvg(const Profile& profile, const FlameOptions& options = {});

// The same of a graph that is laid out already; `options` for its look.
std::string FlameSvg(const Flame& flame, const FlameOptions& options);

}  // namespace firetower::profile
