// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/reflector.h"

namespace firetower::k8s {

// How it stands with one watched kind of object.
struct WatchState {
  std::string resource;  // "pods"
  std::string path;      // "/api/v1/pods"
  ReflectorState state;
};

// A program's connections to the API server: one for each kind of object that is watched, on a
// `watch` thread of its own, so that nothing that server does is waited for anywhere else and what
// is refused for one kind leaves the others alone. Consumers keep what they were told when the
// server is away.
//
// Set up, started and stopped by one thread.
class WatchSet {
 public:
  // `metrics` and `clock` outlive this. `seed`: what differs from one program to the next, such as
  // the node's name.
  WatchSet(ClientConfig config, std::string user_agent, std::string seed, ReflectorMetrics& metrics,
           const Clock& clock);
  ~WatchSet();

  // Before Start. `consumer` outlives this and is called on the watch's thread only.
  void Watch(Resource resource, ObjectConsumer& consumer);
  void Start();
  // Ends every request under way and joins the threads: consumers are not called any more.
  void Stop();

  // A connection for requests that are no watches; for the thread that uses it.
  std::unique_ptr<ApiClient> NewClient() const;

  // In the order of Watch; after Start from any thread.
  std::vector<WatchState> watches() const;
  std::string ServerText() const { return config_.ServerText(); }

 private:
  struct OneWatch;

  const ClientConfig config_;
  const std::string user_agent_;
  const std::string seed_;
  ReflectorMetrics& metrics_;
  const Clock& clock_;
  std::vector<std::unique_ptr<OneWatch>> watches_;
};

}  // namespace firetower::k8s
