// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "k8s/watch/watch_set.h"

namespace firetower::daemon {

using WatchState = k8s::WatchState;

// Tells whether objects may still come: no complete list was received yet, and the watch was not
// refused for good.
inline bool IsAwaited(const WatchState& watch) {
  return !watch.state.has_synced && (watch.state.health == k8s::ReflectorHealth::kStarting ||
                                     watch.state.health == k8s::ReflectorHealth::kFailing);
}

}  // namespace firetower::daemon
