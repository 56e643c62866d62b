// SPDX-License-Identifier: Apache-2.0
#include "hub/readiness.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::hub {
namespace {

using k8s::ReflectorHealth;

bool IsRefused(const k8s::WatchState& watch) {
  return watch.state.health == ReflectorHealth::kForbidden ||
         watch.state.health == ReflectorHealth::kAbsent;
}

}  // namespace

bool MayWrite(const std::vector<k8s::WatchState>& watches) {
  return std::all_of(watches.begin(), watches.end(), [](const k8s::WatchState& watch) {
    if (watch.resource != kReports && IsRefused(watch)) return true;
    return watch.state.has_synced && watch.state.health == ReflectorHealth::kSynced;
  });
}

bool ReportsAreAbsent(const std::vector<k8s::WatchState>& watches) {
  return std::ranges::any_of(watches, [](const k8s::WatchState& watch) {
    return watch.resource == kReports && watch.state.health == ReflectorHealth::kAbsent;
  });
}

std::string AwaitedText(const std::vector<k8s::WatchState>& watches) {
  std::string text;
  for (const k8s::WatchState& watch : watches) {
    if (watch.state.has_synced || (watch.resource != kReports && IsRefused(watch))) continue;
    text += fmt::format("{} were not read from the API server yet{}{}\n", watch.resource,
                        watch.state.message.empty() ? "" : ": ", watch.state.message);
  }
  return text;
}

}  // namespace firetower::hub
