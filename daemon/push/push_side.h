// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/metrics/metrics_registry.h"
#include "daemon/outbox/outbox.h"
#include "daemon/push/pusher.h"

namespace firetower::daemon {

struct PushOptions {
  std::vector<std::string> urls;  // as ParsePushTarget takes them; empty: nothing is pushed
  std::string cluster;
  size_t max_queue_bytes = 16 << 20;  // for each of them
  int64_t window_ns = 60 * kNsPerSecond;
};

// Stands before the outbox: what is on its way to the store passes unchanged, and the bundles of
// windows go to the servers too, each with a thread and a queue of its own. Captures do not: what
// they hold is in windows already, and no server could tell.
class PushSide : public ObjectSink {
 public:
  // For what is left to send at the end.
  static constexpr int64_t kFinishNs = 5 * kNsPerSecond;

  // What ParsePushTarget and CurlTransport::Create say. The registry and the clock outlive this.
  static Result<std::unique_ptr<PushSide>> Open(const PushOptions& options,
                                                MetricsRegistry& registry, const Clock& clock);
  ~PushSide() override { Finish(); }

  // Begins. `next` outlives this.
  ObjectSink& StandBefore(ObjectSink& next);
  void Send(Outgoing object) override;
  // Sends what is left while there is time. Nothing is to be sent any more.
  void Finish();

 private:
  explicit PushSide(const Clock& clock) : clock_(clock) {}

  const Clock& clock_;
  ObjectSink* next_ = nullptr;
  std::vector<std::unique_ptr<Pusher>> pushers_;
};

}  // namespace firetower::daemon
