// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/reflector.h"

namespace firetower::k8s {

// The state of one watched kind of object.
struct WatchState {
  std::string resource;  // "pods"
  std::string path;      // "/api/v1/pods"
  ReflectorState state;
};

// A program's watches of the API server: one for each kind of object, on a `watch` thread of its
// own, so that no other thread waits for the server, and a refusal for one kind does not affect the
// others. Consumers keep their objects when the server is away.
//
// Set up, started and stopped by one thread.
class WatchSet {
 public:
  // `metrics` and `clock` must outlive this. `seed` must differ from program to program, such as
  // the node's name.
  WatchSet(ClientConfig config, std::string user_agent, std::string seed, ReflectorMetrics& metrics,
           const Clock& clock);
  ~WatchSet();

  // Must be called before Start. `consumer` must outlive this and is called only on the watch's
  // thread.
  void Watch(Resource resource, ObjectConsumer& consumer);
  void Start();
  // Cancels every request and joins the threads: consumers are not called any more.
  void Stop();

  // Returns a connection for requests other than watches; for the calling thread.
  std::unique_ptr<ApiClient> NewClient() const;

  // Returns the states in the order of Watch; any thread after Start.
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
