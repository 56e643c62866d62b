// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "hub/config.h"

namespace firetower::hub {

// Returns the output of --print-lifecycle-rules. kInvalid: the store is not in a bucket.
Result<std::string> LifecycleRules(const Config& config);

}  // namespace firetower::hub
