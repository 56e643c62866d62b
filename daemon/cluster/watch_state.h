// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "k8s/watch/reflector.h"

namespace firetower::daemon {

// How it stands with one watched kind of object.
struct WatchState {
  std::string resource;  // "pods"
  std::string path;      // "/api/v1/pods"
  k8s::ReflectorState state;
};

// Something is still to come: no whole set was ever there, and none is refused for good.
inline bool IsAwaited(const WatchState& watch) {
  return !watch.state.has_synced && (watch.state.health == k8s::ReflectorHealth::kStarting ||
                                     watch.state.health == k8s::ReflectorHealth::kFailing);
}

}  // namespace firetower::daemon
