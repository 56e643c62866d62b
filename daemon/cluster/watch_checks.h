// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/cluster/watch_state.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// What `doctor` says of the API server: one check a watched kind of object, "kube-pods".
std::vector<Check> WatchChecks(const std::vector<WatchState>& watches, const std::string& server,
                               int64_t now_wall_ns);

// Why the daemon is not ready yet: what was never there and may still come. An API server that goes
// away later, or that refuses a kind, does not make it unready: it works on with what it has.
std::vector<std::string> AwaitedWatches(const std::vector<WatchState>& watches);

// What follows from namespaces that were never read, "" when they were.
std::string UnknownOptOuts(const std::vector<WatchState>& watches);

}  // namespace firetower::daemon
