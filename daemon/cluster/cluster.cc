// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/cluster.h"

#include <utility>

namespace firetower::daemon {

Cluster::Cluster(k8s::ClientConfig config, std::string node_name, MetricsRegistry& registry,
                 const Clock& clock)
    : node_name_(std::move(node_name)),
      registry_(registry),
      metrics_(registry),
      watches_(std::move(config), "firetower/" FIRETOWER_VERSION " (agent)", node_name_, metrics_,
               clock) {}

void Cluster::Watch(k8s::Resource resource, k8s::ObjectConsumer& consumer) {
  watches_.Watch(std::move(resource), consumer);
}

void Cluster::Start() {
  watches_.Start();
  UpdateMetrics();
}

void Cluster::UpdateMetrics() {
  for (const WatchState& watch : watches()) {
    const bool synced = watch.state.health == k8s::ReflectorHealth::kSynced;
    registry_.Set(MetricId::kKubeSynced, synced ? 1 : 0, {watch.resource});
    registry_.Set(MetricId::kKubeLastSync,
                  static_cast<double>(watch.state.last_sync_wall_ns) / kNsPerSecond,
                  {watch.resource});
  }
}

}  // namespace firetower::daemon
