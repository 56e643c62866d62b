// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace firetower::net {

// The threads that run handlers. Requests come in whole and responses go out whole, so a worker
// never waits for a peer. The queue is bounded by the connection loop: one job a connection.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  // Stops, as Stop() does.
  ~WorkerPool();

  // Runs `job`, which must not throw, on one of the threads.
  void Submit(std::function<void()> job);
  // Drops the jobs that no worker has begun and waits for those that run.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firetower::net
