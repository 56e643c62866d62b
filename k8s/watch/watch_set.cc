// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/watch_set.h"

#include <utility>

#include "base/hash.h"
#include "k8s/watch/watch_thread.h"

namespace firetower::k8s {

struct WatchSet::OneWatch {
  std::string resource;
  std::string path;
  std::unique_ptr<ApiClient> client;
  std::unique_ptr<Reflector> reflector;
  NamedThread thread;  // last: it uses the others
};

WatchSet::WatchSet(ClientConfig config, std::string user_agent, std::string seed,
                   ReflectorMetrics& metrics, const Clock& clock)
    : config_(std::move(config)),
      user_agent_(std::move(user_agent)),
      seed_(std::move(seed)),
      metrics_(metrics),
      clock_(clock) {}

WatchSet::~WatchSet() { Stop(); }

std::unique_ptr<ApiClient> WatchSet::NewClient() const {
  return std::make_unique<ApiClient>(config_, user_agent_, clock_);
}

void WatchSet::Watch(Resource resource, ObjectConsumer& consumer) {
  auto watch = std::make_unique<OneWatch>();
  watch->resource = resource.name;
  watch->path = resource.path;
  watch->client = NewClient();
  // Differs from node to node, so that they do not come back together after an outage.
  const uint64_t seed = HashText(resource.name, HashText(seed_));
  watch->reflector = std::make_unique<Reflector>(*watch->client, std::move(resource), consumer,
                                                 metrics_, clock_, seed);
  watches_.push_back(std::move(watch));
}

void WatchSet::Start() {
  for (auto& watch : watches_)
    watch->thread = WatchOnThread("watch", *watch->reflector, *watch->client);
}

void WatchSet::Stop() {
  for (auto& watch : watches_) watch->thread.RequestStop();
  for (auto& watch : watches_) watch->thread.Join();
}

std::vector<WatchState> WatchSet::watches() const {
  std::vector<WatchState> states;
  for (const auto& watch : watches_)
    states.push_back({watch->resource, watch->path, *watch->reflector->state()});
  return states;
}

}  // namespace firetower::k8s
