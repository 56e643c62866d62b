// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hub/config.h"
#include "service/options/option.h"

namespace firetower::hub {

// The flags of firetower-hub that set `config`, which outlives them.
std::vector<service::Option> ConfigOptions(Config& config);

}  // namespace firetower::hub
