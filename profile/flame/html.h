// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/flame/flame.h"

namespace firetower::profile {

// Encodes a flame graph as one self-contained HTML file with zoom, search and a table of the top
// functions. Its content security policy forbids every request. Names stay text, whatever bytes
// they have. `type` is the profile type's name and may be empty. Fails as MakeFlame does.
Result<std::string> EncodeFlameHtml(const Profile& profile, const FlameOptions& options = {},
                                    std::string_view type = "");

// Encodes a graph that is already laid out.
std::string FlameHtml(const Flame& flame, const FlameOptions& options, std::string_view type);

}  // namespace firetower::profile
