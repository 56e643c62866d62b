// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/cluster/kube_metrics.h"
#include "daemon/cluster/watch_state.h"
#include "daemon/metrics/metrics_registry.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/watch_set.h"

namespace firetower::daemon {

// The daemon's connections to the API server, and their metrics.
//
// Set up, started and stopped by the control thread.
class Cluster {
 public:
  // `registry` and `clock` must outlive this.
  Cluster(k8s::ClientConfig config, std::string node_name, MetricsRegistry& registry,
          const Clock& clock);

  // Same parameters as k8s::WatchSet.
  void Watch(k8s::Resource resource, k8s::ObjectConsumer& consumer);
  void Start();
  void Stop() { watches_.Stop(); }
  std::unique_ptr<k8s::ApiClient> NewClient() const { return watches_.NewClient(); }
  std::vector<WatchState> watches() const { return watches_.watches(); }
  std::string ServerText() const { return watches_.ServerText(); }

  // Updates the metrics of the watches. The control thread calls it every few seconds.
  void UpdateMetrics();

  const std::string& node_name() const { return node_name_; }

 private:
  const std::string node_name_;
  MetricsRegistry& registry_;
  KubeMetrics metrics_;
  k8s::WatchSet watches_;
};

}  // namespace firetower::daemon
