// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/thread.h"

namespace firetower::store {

// An answer over a network takes 10 to 50 ms; the S3 client keeps as many idle connections.
inline constexpr size_t kAtOnceInOrder = 8;
// The most pieces that were requested and not taken: more than run at a time, so that a slow one
// does not block the others.
inline constexpr size_t kMaxHeldInOrder = 2 * kAtOnceInOrder;

// Runs pieces of work concurrently and returns them in the order of the requests. One thread asks
// and takes; threads of its own do the work, as many as needed, and wait when there is none. If the
// system gives no thread, the asking thread works itself. Each piece decides itself when it ends: a
// call to a store ends with the store's limits.
//
// Has a mutex, because several threads take from one queue. It is locked once per request to the
// store, so there is no contention.
template <typename Work>
class InOrder {
 public:
  // `run` is called by any of the threads, which have that name. It must not throw.
  InOrder(std::string thread_name, std::function<void(Work&)> run)
      : thread_name_(std::move(thread_name)), run_(std::move(run)) {}
  ~InOrder() {
    Drop();
    for (std::jthread& thread : threads_) thread.request_stop();
  }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  bool empty() const { return held_ == 0; }
  bool is_full() const { return held_ == kMaxHeldInOrder; }

  // Requires that it is not full.
  void Ask(Work work) {
    CHECK(!is_full());
    ++held_;
    if (threads_.size() < std::min(held_, kAtOnceInOrder)) StartThread();
    Piece piece{std::move(work)};
    if (threads_.empty()) {
      run_(piece.work);
      piece.done = true;
    }
    {
      const std::lock_guard lock(mutex_);
      begun_ += piece.done ? 1 : 0;
      pieces_.push_back(std::move(piece));
    }
    asked_.notify_one();
  }

  // Returns the first piece that was requested and not taken; waits for it. Requires that it is not
  // empty.
  Work Take() {
    CHECK(!empty());
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return pieces_.front().done; });
    Work first = std::move(pieces_.front().work);
    pieces_.pop_front();
    --begun_;
    --held_;
    return first;
  }

  // Drops the pieces that were requested and not taken, and waits for running ones.
  void Drop() {
    std::unique_lock lock(mutex_);
    pieces_.resize(begun_);
    done_.wait(lock, [this] {
      return std::ranges::all_of(pieces_, [](const Piece& piece) { return piece.done; });
    });
    pieces_.clear();
    begun_ = 0;
    held_ = 0;
  }

 private:
  struct Piece {
    Work work;
    bool done = false;
  };

  // Does nothing if the system gives no more threads: the existing ones go on.
  void StartThread() {
    try {
      threads_.emplace_back([this](const std::stop_token& stop) {
        SetThreadName(thread_name_);
        Run(stop);
      });
    } catch (const std::system_error& error) {
      // Each piece may try again.
      if (!std::exchange(warned_, true))
        LOG(kWarn, "no thread more", {{"name", thread_name_}, {"why", error.what()}});
    }
  }

  void Run(const std::stop_token& stop) noexcept {
    std::unique_lock lock(mutex_);
    while (asked_.wait(lock, stop, [this] { return begun_ < pieces_.size(); })) {
      Piece& piece = pieces_[begun_++];
      lock.unlock();
      run_(piece.work);
      lock.lock();
      piece.done = true;
      done_.notify_one();
    }
  }

  const std::string thread_name_;
  const std::function<void(Work&)> run_;
  size_t held_ = 0;  // of pieces_, by the one thread
  std::mutex mutex_;
  std::condition_variable_any asked_;
  std::condition_variable done_;
  std::deque<Piece> pieces_;  // a deque: growing does not move its elements
  size_t begun_ = 0;          // how many of the first pieces have begun
  bool warned_ = false;       // that there was no thread
  std::vector<std::jthread> threads_;
};

}  // namespace firetower::store
