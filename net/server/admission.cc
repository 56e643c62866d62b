// SPDX-License-Identifier: Apache-2.0
#include "net/server/admission.h"

#include <chrono>

namespace firetower::net {

std::optional<Admission::Pass> Admission::Enter(const std::stop_token& gone) {
  std::unique_lock lock(mutex_);
  const auto has_room = [this] { return running_ < options_.running; };
  if (!has_room()) {
    if (waiting_ >= options_.waiting) return std::nullopt;
    ++waiting_;
    const bool let_in =
        left_.wait_for(lock, gone, std::chrono::nanoseconds(options_.longest_wait_ns), has_room);
    --waiting_;
    if (!let_in) return std::nullopt;
  }
  ++running_;
  return std::optional<Pass>(std::in_place, *this);
}

void Admission::Leave() {
  {
    const std::lock_guard lock(mutex_);
    --running_;
    if (running_ > 0 || waiting_ > 0) {
      left_.notify_one();
      return;
    }
  }
  if (on_idle_) on_idle_();
}

}  // namespace firetower::net
