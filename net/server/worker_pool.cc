// SPDX-License-Identifier: Apache-2.0
#include "net/server/worker_pool.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread.h"

namespace firetower::net {

namespace asio = boost::asio;

// Asio's own thread_pool gives its threads no names.
class WorkerPool::Impl {
 public:
  explicit Impl(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this]() noexcept {
        SetThreadName("http-worker");
        jobs_.run();
      });
    }
  }

  void Submit(std::function<void()> job) { asio::post(jobs_, std::move(job)); }

  void Stop() {
    jobs_.stop();
    threads_.clear();
  }

 private:
  asio::io_context jobs_;
  asio::executor_work_guard<asio::io_context::executor_type> open_ = asio::make_work_guard(jobs_);
  std::vector<std::jthread> threads_;
};

WorkerPool::WorkerPool(int threads) : impl_(std::make_unique<Impl>(threads)) {}
WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Submit(std::function<void()> job) { impl_->Submit(std::move(job)); }
void WorkerPool::Stop() { impl_->Stop(); }

}  // namespace firetower::net
