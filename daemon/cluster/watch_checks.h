// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/cluster/watch_state.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// Returns the API server's checks for `doctor`: one for each watched kind of object, such as
// "kube-pods".
std::vector<Check> WatchChecks(const std::vector<WatchState>& watches, const std::string& server,
                               int64_t now_wall_ns);

// Returns the reasons why the daemon is not ready yet: kinds of objects that were never read and
// may still come. An API server that fails later, or that refuses a kind, does not make the daemon
// unready: it goes on with the objects that it has.
std::vector<std::string> AwaitedWatches(const std::vector<WatchState>& watches);

// Returns the consequence of namespaces that were never read; "" when they were read.
std::string UnknownOptOuts(const std::vector<WatchState>& watches);

}  // namespace firetower::daemon
