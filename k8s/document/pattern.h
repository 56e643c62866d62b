// SPDX-License-Identifier: Apache-2.0
// RE2, the expressions of CRD patterns and of policies.
#pragma once

#include <string>
#include <string_view>

namespace firetower::k8s {

// Whether `pattern`, one of ours, is found in `text`. Anchors are up to the pattern.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// Why `expression` is no RE2 expression; "" when it is one.
std::string RegexError(std::string_view expression);

}  // namespace firetower::k8s
