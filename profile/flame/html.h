// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/flame/flame.h"

namespace firetower::profile {

// A flame graph as one HTML file that needs nothing else: its policy forbids every request. Zoom,
// search, a table of the top functions. Whatever bytes names hold, they stay text. `type` is the
// profile type's name, may be empty. Errors: MakeFlame's.
Result<std::string> EncodeFlameHtml(const Profile& profile, const FlameOptions& options = {},
                                    std::string_view type = "");

// The same of a graph that is laid out already.
std::string FlameHtml(const Flame& flame, const FlameOptions& options, std::string_view type);

// The page of a server: the same, but it asks the API beside it for profiles.
struct AppPage {
  std::string body;
  std::string content_security_policy;  // for the header of that name
};
AppPage FlameAppPage();

}  // namespace firetower::profile
