// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/selector.h"

namespace firetower::profile {

// Parses the grammar of Prometheus' vector selectors, without ranges and offsets. Used by
// Selector::Parse.
Result<std::vector<Matcher>> ParseMatchers(std::string_view text);

}  // namespace firetower::profile
