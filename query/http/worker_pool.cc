// SPDX-License-Identifier: Apache-2.0
#include "query/http/worker_pool.h"

#include <utility>

#include "base/clock.h"

namespace firetower::query {

WorkerPool::WorkerPool(int threads, const HttpHandler& handler, const RequestObserver& observer,
                       WakeFd& done)
    : handler_(handler), observer_(observer), wake_(done) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this]() noexcept { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(Job job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  ready_.notify_one();
}

std::vector<WorkerPool::Done> WorkerPool::TakeDone() {
  std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void WorkerPool::Run() noexcept {
  SetThreadName("http-worker");
  HttpEngine engine(handler_);
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    int64_t begin_ns = Clock::System().MonotonicNs();
    Done done{job.connection,
              engine.Serve(job.request, job.remote_address, job.last, std::move(job.gone))};
    if (observer_) {
      int64_t taken_ns = Clock::System().MonotonicNs() - begin_ns;
      observer_({done.reply.route.empty() ? "other" : done.reply.route, done.reply.status,
                 static_cast<double>(taken_ns) / kNsPerSecond});
    }
    {
      std::lock_guard lock(mutex_);
      done_.push_back(std::move(done));
    }
    wake_.Notify();
  }
}

}  // namespace firetower::query
