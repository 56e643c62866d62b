// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "daemon/config/config.h"
#include "service/options/option.h"

namespace firetower::daemon {

// The options that set `config`, which outlives them. In the order of the help; rows of one group
// stand together.
std::vector<service::Option> ConfigOptions(Config& config);

// Checks rules over several rows: the slice divides the window, the default rate keeps the ceiling,
// TLS has both of its files, rights are asked only where there is a cluster.
Status CheckConfig(const Config& config);

}  // namespace firetower::daemon
