// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/metrics/metrics_registry.h"
#include "daemon/push/protocol/protocol.h"
#include "daemon/push/target.h"
#include "net/client/http_client.h"
#include "store/bundle.h"
#include "store/s3/http/pause.h"

namespace firetower::daemon {

struct PusherOptions {
  // The bound of all waiting bundles, including the one that is being sent.
  size_t max_queue_bytes = 16 << 20;
  // A request gets more profiles until it has this size, and at least one.
  size_t request_bytes = 2 << 20;
  // A bundle that enters an empty queue waits for a random part of this time, because all nodes of
  // a cluster end their windows at the same moment.
  int64_t spread_ns = 0;
  // After a failure the next try waits for a random part of a time that doubles between these two,
  // and at least as long as the server demands.
  int64_t first_retry_ns = kNsPerSecond;
  int64_t last_retry_ns = 60 * kNsPerSecond;
};

// The `push` thread of one server: sends it the profiles of windows, the oldest first. Requests
// that the server cannot take now are tried again; refused ones are not. If a request with several
// profiles is refused because of its contents, each profile is sent alone once. Beyond
// max_queue_bytes the oldest windows are dropped. All of this is counted.
class Pusher {
 public:
  // All references must outlive this.
  Pusher(PushTarget target, std::unique_ptr<PushProtocol> protocol,
         std::unique_ptr<net::HttpClient> transport, MetricsRegistry& registry, const Clock& clock,
         store::s3::Pause& pause, const PusherOptions& options);
  ~Pusher();

  void Start();
  // Queues a window's bundle (store/bundle.h). Never waits for the server. Any thread.
  void Offer(std::shared_ptr<const std::string> bundle);
  // Ends the input. Waiting bundles are then sent without pauses.
  void RequestStop() { thread_.RequestStop(); }
  // Waits for the thread until `until_ns` (monotonic), then aborts it and drops the rest.
  void Finish(int64_t until_ns);

  const std::string& name() const { return target_.name; }

 private:
  struct Queued {
    std::shared_ptr<const std::string> bundle;
    size_t next = 0;     // the first of its profiles that is not done with
    size_t singles = 0;  // those before this one go one by one
    size_t looked = 0;   // of those before this one, the unreadable are counted
    int tries = 0;       // of the request that begins at `next`
  };
  // A request, with the profiles of the bundle that it holds.
  struct Request {
    std::string body;
    size_t end = 0;       // [Queued::next, end)
    size_t profiles = 0;  // of these, those that could be read
  };

  void Run(std::stop_token stop, WakeFd& wake);
  bool IsEmpty() const;
  // Sends one request. Returns the time to wait before the next one, or 0.
  int64_t SendNext();
  std::optional<Queued> Begin();
  // Puts the rest of a bundle back into the queue.
  void End(Queued queued, size_t profiles_in_bundle);
  Request MakeRequest(Queued& queued, const store::BundleIndex& index);
  bool AddToRequest(const Queued& queued, const store::BundleEntry& entry, bool is_new);
  PushAnswer Send(const Request& request, int tries);
  // Advances `queued`, counts and logs. Returns the time to wait.
  int64_t Conclude(const PushAnswer& answer, const Request& request, Queued& queued);
  // Handles an accepted request with so many profiles, some of which the answer may reject.
  void ConcludeTaken(const PushAnswer& answer, size_t profiles);
  void Refused(size_t profiles, std::string_view why);
  void Succeeded();
  int64_t BackoffNs();

  // Takes out the oldest bundles beyond the bound. The caller holds mutex_.
  void TakeOldest(size_t most_bytes, std::vector<Queued>& dropped);
  void Drop(const std::vector<Queued>& dropped, std::string_view why);
  void Count(std::string_view result, size_t profiles);
  void ShowQueue();

  const PushTarget target_;
  const std::unique_ptr<PushProtocol> protocol_;
  const std::unique_ptr<net::HttpClient> transport_;
  MetricsRegistry& registry_;
  const Clock& clock_;
  store::s3::Pause& pause_;
  const PusherOptions options_;
  std::minstd_rand random_;
  int64_t retry_ns_ = 0;      // 0: the server took the last request
  mutable std::mutex mutex_;  // the export thread's side: a bundle or two a window
  std::deque<Queued> queue_;
  size_t queue_bytes_ = 0;  // including the request that is being sent
  std::stop_source abort_;  // of the request that is being sent
  WakeFd done_;
  bool running_ = false;  // between Start and Finish
  NamedThread thread_;
};

}  // namespace firetower::daemon
