// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "k8s/watch/watch_set.h"

namespace firetower::hub {

inline constexpr std::string_view kReports = "profilingnodes";

// Tells whether enough is known to write status: the reports of nodes, and each kind of policy,
// have been read from the server. A kind that is refused or not installed does not block the other
// one; without reports every policy would appear to run nowhere.
bool MayWrite(const std::vector<k8s::WatchState>& watches);

// Tells whether reports no longer exist at all: every policy would appear to run nowhere, although
// the agents go on.
bool ReportsAreAbsent(const std::vector<k8s::WatchState>& watches);

// Returns one line for each kind that was never read and may still come; empty: the hub is ready.
std::string AwaitedText(const std::vector<k8s::WatchState>& watches);

}  // namespace firetower::hub
