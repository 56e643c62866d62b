// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/watch_thread.h"

#include <algorithm>
#include <climits>
#include <stop_token>
#include <utility>

namespace firetower::k8s {

NamedThread WatchOnThread(std::string name, Reflector& reflector, ApiClient& client) {
  return NamedThread(std::move(name), [&reflector, &client](std::stop_token stop, WakeFd& wake) {
    const std::stop_callback cancel(stop, [&client] { client.Cancel(); });
    while (!stop.stop_requested()) {
      const int64_t wait_ms = (reflector.StepNs() + kNsPerMs - 1) / kNsPerMs;
      if (wait_ms > 0) wake.Wait(static_cast<int>(std::min<int64_t>(wait_ms, INT_MAX)));
    }
  });
}

}  // namespace firetower::k8s
