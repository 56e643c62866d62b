// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower {

// Wake-up by an eventfd: Notify() from any thread makes Wait() on one other thread return.
class WakeFd {
 public:
  WakeFd();
  void Notify() noexcept;
  // Waits at most `timeout_ms` (-1: without limit) and clears the notification. Returns true if
  // notified.
  bool Wait(int timeout_ms) noexcept;
  void Clear() noexcept;
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

// Names the calling thread. At most 15 characters show in /proc and in our own profiles.
void SetThreadName(const std::string& name);

// Thread with a name and a wake-up. The body gets the stop token; requesting a stop also notifies.
class NamedThread {
 public:
  NamedThread() = default;
  // `body` must not throw.
  NamedThread(std::string name, std::function<void(std::stop_token, WakeFd&)> body);
  ~NamedThread();
  NamedThread(NamedThread&&) = default;
  NamedThread& operator=(NamedThread&&) = default;

  // Does nothing if the thread was never started.
  void Notify() {
    if (wake_) wake_->Notify();
  }
  void RequestStop();
  void Join();

 private:
  std::unique_ptr<WakeFd> wake_;
  std::jthread thread_;
};

// Returns a descriptor from which SIGTERM and SIGINT can be read (signalfd_siginfo), and ignores
// SIGPIPE. Must be called before any thread starts, because threads inherit the blocked signals.
Result<UniqueFd> CatchStopSignals();

}  // namespace firetower
