// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/cluster/kube_metrics.h"
#include "daemon/cluster/watch_state.h"
#include "daemon/metrics/metrics_registry.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/reflector.h"

namespace firetower::daemon {

// The daemon's connections to the API server: one for each kind of object that is watched, on a
// `watch` thread of its own, so that nothing that server does is waited for anywhere else and what
// is refused for one kind leaves the others alone. Consumers keep what they were told when the
// server is away.
//
// Set up, started and stopped by the control thread.
class Cluster {
 public:
  // `registry` and `clock` outlive this.
  Cluster(k8s::ClientConfig config, std::string node_name, MetricsRegistry& registry,
          const Clock& clock);
  ~Cluster();

  // Before Start. `consumer` outlives this and is called on the watch's thread only.
  void Watch(k8s::Resource resource, k8s::ObjectConsumer& consumer);
  void Start();
  // Ends every request under way and joins the threads: consumers are not called any more.
  void Stop();

  // A connection for requests that are no watches; for the thread that uses it.
  std::unique_ptr<k8s::ApiClient> NewClient() const;

  // In the order of Watch; after Start from any thread.
  std::vector<WatchState> watches() const;
  // What /metrics shows of the watches; the control thread, every few seconds.
  void UpdateMetrics();

  const std::string& node_name() const { return node_name_; }
  std::string ServerText() const { return config_.ServerText(); }

 private:
  struct OneWatch;

  const k8s::ClientConfig config_;
  const std::string node_name_;
  MetricsRegistry& registry_;
  const Clock& clock_;
  KubeMetrics metrics_;
  std::vector<std::unique_ptr<OneWatch>> watches_;
};

}  // namespace firetower::daemon
