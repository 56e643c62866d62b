// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/clock.h"
#include "hub/hub_metrics.h"
#include "hub/rollouts/rollout_watch.h"
#include "k8s/client/api_client.h"
#include "k8s/status/event.h"

namespace firetower::hub {

// Returns what an Event says: the roll-out, and the functions, as many as it has room for.
std::string RegressionNote(const Regression& regression);

// Writes an Event on the Deployment whose roll-out made functions slower. It names the object as it
// is now, so that `kubectl describe` shows it; without the right to get Deployments, or if there is
// none of that name, only `kubectl events` does. Belongs to one thread.
class RolloutEvents {
 public:
  // Borrows all references. `instance`: this hub's name.
  RolloutEvents(k8s::ApiServer& server, const Clock& clock, HubMetrics& metrics,
                std::string instance)
      : server_(server),
        clock_(clock),
        metrics_(metrics),
        series_("firetower.dev/hub", std::move(instance)) {}

  void Tell(const Regression& regression);

 private:
  std::string UidOf(const query::Rollout& rollout);

  k8s::ApiServer& server_;
  const Clock& clock_;
  HubMetrics& metrics_;
  k8s::EventSeries series_;
};

}  // namespace firetower::hub
