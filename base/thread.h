// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower {

// An eventfd: Notify() from any thread makes Wait() on one other thread return.
class WakeFd {
 public:
  WakeFd();
  void Notify() noexcept;
  // Waits at most `timeout_ms` (-1: for ever) and clears the notification. True if notified.
  bool Wait(int timeout_ms) noexcept;
  void Clear() noexcept;
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

// Names the calling thread (at most 15 characters show in /proc and in our own profiles).
void SetThreadName(const std::string& name);

// A named thread with a wake-up. The body gets the stop token; requesting a stop also notifies.
class NamedThread {
 public:
  NamedThread() = default;
  // `body` must not throw.
  NamedThread(std::string name, std::function<void(std::stop_token, WakeFd&)> body);
  ~NamedThread();
  NamedThread(NamedThread&&) = default;
  NamedThread& operator=(NamedThread&&) = default;

  // Nothing happens if the thread was never started.
  void Notify() {
    if (wake_) wake_->Notify();
  }
  void RequestStop();
  void Join();

 private:
  std::unique_ptr<WakeFd> wake_;
  std::jthread thread_;
};

// Makes SIGTERM and SIGINT readable (signalfd_siginfo) from the descriptor it returns, and SIGPIPE
// harmless. To be called before any thread starts: they inherit that the signals are blocked.
Result<UniqueFd> CatchStopSignals();

}  // namespace firetower
