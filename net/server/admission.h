// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/clock.h"

namespace firetower::net {

struct AdmissionOptions {
  int running = 2;  // each may take what store::QueryLimits allow
  int waiting = 4;  // a page asks for three things at once
  // Of whom a server has to be asked who they are, one at a time: they take no place of those
  // above.
  int strangers = 0;
  int64_t longest_wait_ns = 10 * kNsPerSecond;

  // Of an HTTP server all of whose questions pass here: two threads are left for probes and
  // metrics, whatever the questions wait for.
  constexpr int WorkerThreads() const { return running + waiting + strangers + 2; }
};

// Lets in so many questions at a time, and some wait: what they take together is bounded, and
// threads are left for probes. Any thread.
class Admission {
 public:
  // `on_idle` is called when the last of those that ran ends.
  explicit Admission(AdmissionOptions options, std::function<void()> on_idle = nullptr)
      : options_(options), on_idle_(std::move(on_idle)) {}

  // As long as it lives somebody is in.
  class Pass {
   public:
    explicit Pass(Admission& of) : of_(&of) {}
    Pass(Pass&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (of_ != nullptr) of_->Leave();
    }

   private:
    Admission* of_;
  };
  // Nothing: too many wait, it took too long, or `gone` was requested.
  std::optional<Pass> Enter(const std::stop_token& gone);

 private:
  void Leave();

  const AdmissionOptions options_;
  const std::function<void()> on_idle_;
  std::mutex mutex_;  // HTTP workers meet here, a few a second
  std::condition_variable_any left_;
  int running_ = 0;
  int waiting_ = 0;
};

}  // namespace firetower::net
