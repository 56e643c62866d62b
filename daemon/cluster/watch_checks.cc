// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/watch_checks.h"

#include <fmt/core.h>

#include "base/clock.h"

namespace firetower::daemon {
namespace {

using k8s::ReflectorHealth;

// Describes the objects that the daemon works with meanwhile.
std::string WhatThereIs(const WatchState& watch, int64_t now_wall_ns) {
  if (!watch.state.has_synced) return "none was ever read";
  return fmt::format("the daemon uses the state of {} s ago",
                     (now_wall_ns - watch.state.last_sync_wall_ns) / kNsPerSecond);
}

Check CheckOf(const WatchState& watch, const std::string& server, int64_t now_wall_ns) {
  Check check{"kube-" + watch.resource, CheckStatus::kWarn, "", ""};
  const std::string& said = watch.state.message;
  switch (watch.state.health) {
    case ReflectorHealth::kSynced:
      check.status = CheckStatus::kOk;
      check.message = fmt::format("{} are read from {}, last {} s ago", watch.resource, server,
                                  (now_wall_ns - watch.state.last_sync_wall_ns) / kNsPerSecond);
      break;
    case ReflectorHealth::kStarting:
      check.message = fmt::format("{} are not read from {} yet", watch.resource, server);
      check.fix = "wait; if it stays so, check that the server can be reached from here";
      break;
    case ReflectorHealth::kFailing:
      check.message = fmt::format("{} does not return {}: {}; {}", server, watch.resource, said,
                                  WhatThereIs(watch, now_wall_ns));
      check.fix = "check that the server runs and can be reached from here";
      break;
    case ReflectorHealth::kForbidden:
      check.message = fmt::format("{} refuses {}: {}; {}", server, watch.resource, said,
                                  WhatThereIs(watch, now_wall_ns));
      check.fix = fmt::format("grant list and watch of {} to the daemon's account", watch.resource);
      break;
    case ReflectorHealth::kAbsent:
      check.message = fmt::format("{} has no {}: {}", server, watch.resource, said);
      check.fix = "install the CustomResourceDefinitions";
      break;
  }
  return check;
}

}  // namespace

std::vector<Check> WatchChecks(const std::vector<WatchState>& watches, const std::string& server,
                               int64_t now_wall_ns) {
  std::vector<Check> checks;
  for (const WatchState& watch : watches) checks.push_back(CheckOf(watch, server, now_wall_ns));
  return checks;
}

std::string UnknownOptOuts(const std::vector<WatchState>& watches) {
  for (const WatchState& watch : watches) {
    if (watch.resource == "namespaces" && !watch.state.has_synced)
      return "namespaces were never read (" + watch.state.message +
             "): pods of opted-out namespaces are profiled all the same";
  }
  return "";
}

std::vector<std::string> AwaitedWatches(const std::vector<WatchState>& watches) {
  std::vector<std::string> reasons;
  for (const WatchState& watch : watches) {
    if (!IsAwaited(watch)) continue;
    reasons.push_back(fmt::format("{} were not read from the API server yet{}{}", watch.resource,
                                  watch.state.message.empty() ? "" : ": ", watch.state.message));
  }
  return reasons;
}

}  // namespace firetower::daemon
