// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// The indices of all locations in the order in which they get ids from 1 on: those that most
// samples name come first, as far as an id takes fewer bytes there (127 of one byte, 16,256 of
// two), otherwise in their own order. The same profile gives the same order.
std::vector<uint32_t> LocationOrder(const Profile& profile);

}  // namespace firetower::profile
