// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "profile/flame/flame.h"

namespace firetower::profile {

// Encodes a flame graph as one SVG file without scripts. It has every bar of half a pixel or more
// (smaller ones become `other`), with its name if there is room, and a tooltip with name, binary,
// value and share. Always valid XML, whatever bytes names have. Fails as MakeFlame does, and with
// kInvalid for a width out of range.
Result<std::string> EncodeSvg(const Profile& profile, const FlameOptions& options = {});

// Encodes a graph that is already laid out; `options` sets its look.
std::string FlameSvg(const Flame& flame, const FlameOptions& options);

}  // namespace firetower::profile
