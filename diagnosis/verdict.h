// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "diagnosis/report.h"
#include "profile/profile.h"

namespace firetower::diagnosis {

// Judges whose code the value is spent in: each sample counts for the domain of the function that
// it is the own of (profile/top/own_frame.h). `value_index` must be below sample_types().size().
Verdict Judge(const profile::Profile& profile, uint32_t value_index, const Domains& domains);

}  // namespace firetower::diagnosis
