// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// Returns the indices of all samples, ordered by their stacks from the root on. Samples with the
// same callers are then neighbours, which gzip compresses well. Samples of one stack keep their
// order. The same profile gives the same order.
std::vector<uint32_t> SampleOrder(const Profile& profile);

}  // namespace firetower::profile
