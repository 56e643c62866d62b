// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diagnosis/report.h"

namespace firetower::diagnosis {

// The values of a workload's pods in one range.
using PodValues = std::map<std::string, double>;

// Finds a pod that is much busier than its twins: at least kLeastPods of one workload, and one with
// kUnevenTimes of their median or more. `share_percent`: the least part of the total that it has to
// have.
inline constexpr size_t kLeastPods = 3;
inline constexpr double kUnevenTimes = 2;
std::optional<Finding> FindUneven(const std::string& workload, const PodValues& pods, double total,
                                  double share_percent = 5);

}  // namespace firetower::diagnosis
