// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "k8s/watch/watch_set.h"

namespace firetower::hub {

inline constexpr std::string_view kReports = "profilingnodes";

// Whether enough is known to write status: the reports of nodes, and each kind of policy, are as
// the server has them. A kind that is refused, or not installed, leaves the other alone; without
// reports every policy would be told to run nowhere.
bool MayWrite(const std::vector<k8s::WatchState>& watches);

// Whether there is no such thing as a report any more: every policy would be told to run nowhere,
// though the agents go on.
bool ReportsAreAbsent(const std::vector<k8s::WatchState>& watches);

// Returns one line for each kind that was never read and may still come; empty: the hub is ready.
std::string AwaitedText(const std::vector<k8s::WatchState>& watches);

}  // namespace firetower::hub
