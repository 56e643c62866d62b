// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/cluster.h"

#include <utility>

#include "base/hash.h"
#include "k8s/watch/watch_thread.h"

namespace firetower::daemon {
namespace {

// Differs from node to node, so that they do not come back together after an outage.
uint64_t SeedOf(std::string_view node, std::string_view resource) {
  uint64_t hash = kHashSeed;
  for (char c : node) hash = HashWord(hash, static_cast<unsigned char>(c));
  for (char c : resource) hash = HashWord(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

struct Cluster::OneWatch {
  std::string resource;
  std::string path;
  std::unique_ptr<k8s::ApiClient> client;
  std::unique_ptr<k8s::Reflector> reflector;
  NamedThread thread;  // last: it uses the others
};

Cluster::Cluster(k8s::ClientConfig config, std::string node_name, MetricsRegistry& registry,
                 const Clock& clock)
    : config_(std::move(config)),
      node_name_(std::move(node_name)),
      registry_(registry),
      clock_(clock),
      metrics_(registry) {}

Cluster::~Cluster() { Stop(); }

std::unique_ptr<k8s::ApiClient> Cluster::NewClient() const {
  return std::make_unique<k8s::ApiClient>(config_, "firetower/" FIRETOWER_VERSION " (agent)",
                                          clock_);
}

void Cluster::Watch(k8s::Resource resource, k8s::ObjectConsumer& consumer) {
  auto watch = std::make_unique<OneWatch>();
  watch->resource = resource.name;
  watch->path = resource.path;
  watch->client = NewClient();
  const uint64_t seed = SeedOf(node_name_, resource.name);
  watch->reflector = std::make_unique<k8s::Reflector>(*watch->client, std::move(resource), consumer,
                                                      metrics_, clock_, seed);
  watches_.push_back(std::move(watch));
}

void Cluster::Start() {
  for (auto& watch : watches_)
    watch->thread = k8s::WatchOnThread("watch", *watch->reflector, *watch->client);
  UpdateMetrics();
}

void Cluster::Stop() {
  for (auto& watch : watches_) watch->thread.RequestStop();
  for (auto& watch : watches_) watch->thread.Join();
}

std::vector<WatchState> Cluster::watches() const {
  std::vector<WatchState> states;
  for (const auto& watch : watches_)
    states.push_back({watch->resource, watch->path, *watch->reflector->state()});
  return states;
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
