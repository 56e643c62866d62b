// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

#include "base/thread.h"
#include "base/unique_fd.h"

namespace firetower::cli {

// Ends the process on SIGINT (status 130) and SIGTERM (143) from a thread of its own, also while
// another waits for the network; first writes what puts the terminal back. To be made before any
// other thread, since it blocks both signals for all that follow.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard() = default;
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Written to standard output before the end; a literal, "" for nothing.
  void SetFarewell(const char* text) { farewell_ = text; }

 private:
  UniqueFd signals_;
  std::atomic<const char*> farewell_ = "";
  NamedThread thread_;
};

}  // namespace firetower::cli
