// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/profile.h"

namespace firetower::profile {

// Returns a profile whose stacks go from the innermost function to the outermost one, inlined calls
// included: its flame graph is bottom-up, each function at the root with its callers above. Sums
// stay.
Profile Inverted(const Profile& profile);

}  // namespace firetower::profile
