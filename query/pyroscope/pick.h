// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "profile/profile.h"

namespace firetower::query::pyroscope {

// One of a profile's values, which is what Pyroscope's profiles have, of the stacks that begin with
// the functions of `call_site`, root first; of all stacks when it is empty. `value_index` is below
// sample_types().size().
profile::Profile Pick(const profile::Profile& profile, uint32_t value_index,
                      std::span<const std::string> call_site);

}  // namespace firetower::query::pyroscope
