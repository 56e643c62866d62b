// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// Returns the indices of all locations in the order in which they get ids from 1 on. The locations
// that occur in the most samples come first, as far as a smaller id saves bytes (127 ids take one
// byte, 16,256 take two); the others keep their order. The same profile gives the same order.
std::vector<uint32_t> LocationOrder(const Profile& profile);

}  // namespace firetower::profile
