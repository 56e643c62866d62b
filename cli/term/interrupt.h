// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
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

  // From now on the first signal only ends WaitNs: something is to be put in order first. The next
  // one ends the process as ever.
  void Hold() { holding_ = true; }
  // Of one thread. True once a signal came after Hold; at the latest after `ns`.
  bool WaitNs(int64_t ns);
  // 130 or 143; 0 while none was held back.
  int exit_code() const { return exit_code_; }

 private:
  UniqueFd signals_;
  std::atomic<const char*> farewell_ = "";
  std::atomic<bool> holding_ = false;
  std::atomic<int> exit_code_ = 0;
  WakeFd came_;
  NamedThread thread_;
};

}  // namespace firetower::cli
