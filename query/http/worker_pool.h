// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/thread.h"
#include "query/http/engine.h"
#include "query/http/message.h"

namespace firetower::query {

// What was answered, for the metrics of whoever runs the server. `route` is a path pattern of the
// API, or "other": a bounded set, unlike paths.
struct RequestStats {
  std::string_view route;
  int status = 0;
  double seconds = 0;
};
using RequestObserver = std::function<void(const RequestStats&)>;

// The threads that run handlers. Requests come in whole and responses go out whole, so a worker
// never waits for a peer. The queues are bounded by the connection loop: one job a connection.
//
// The mutex: several workers take from one queue, which the SPSC queue in base/ does not allow;
// requests come a few a second, so it is never contended.
class WorkerPool {
 public:
  struct Job {
    uint64_t connection = 0;
    std::string request;
    std::string remote_address;
    bool last = false;
    std::stop_token gone = {};  // HttpRequest::gone
  };
  struct Done {
    uint64_t connection = 0;
    HttpEngine::Reply reply;
  };

  // `done` is notified when TakeDone() has something; it and the functions outlive the pool.
  WorkerPool(int threads, const HttpHandler& handler, const RequestObserver& observer,
             WakeFd& done);
  // Drops what no worker has begun and waits for the handlers that run.
  ~WorkerPool();

  void Submit(Job job);
  std::vector<Done> TakeDone();

 private:
  void Run() noexcept;

  const HttpHandler& handler_;
  const RequestObserver& observer_;
  WakeFd& wake_;
  std::mutex mutex_;
  std::condition_variable ready_;
  bool stopping_ = false;
  std::deque<Job> jobs_;
  std::vector<Done> done_;
  std::vector<std::thread> threads_;
};

}  // namespace firetower::query
