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

// Forwards objects to the outbox unchanged, and also sends the bundles of windows to the push
// servers, each with its own thread and queue. Does not push captures: their samples are in windows
// already, and a server could not tell them apart.
class PushSide : public ObjectSink {
 public:
  // The time to send the remaining profiles at the end.
  static constexpr int64_t kFinishNs = 5 * kNsPerSecond;

  // Fails as ParsePushTarget and CurlTransport::Create do. The registry and the clock must outlive
  // this.
  static Result<std::unique_ptr<PushSide>> Open(const PushOptions& options,
                                                MetricsRegistry& registry, const Clock& clock);
  ~PushSide() override { Finish(); }

  // Starts, and returns the sink that forwards to `next`, which must outlive this.
  ObjectSink& ForwardTo(ObjectSink& next);
  void Send(Outgoing object) override;
  // Sends the remaining profiles while there is time. Nothing may be sent afterwards.
  void Finish();

 private:
  explicit PushSide(const Clock& clock) : clock_(clock) {}

  const Clock& clock_;
  ObjectSink* next_ = nullptr;
  std::vector<std::unique_ptr<Pusher>> pushers_;
};

}  // namespace firetower::daemon
