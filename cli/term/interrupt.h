// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/thread.h"
#include "base/unique_fd.h"

namespace firetower::cli {

// Ends the process on SIGINT (status 130) and SIGTERM (143), even while another thread waits for
// the network. Uses a thread of its own. First writes the text that restores the terminal. Must be
// created before any other thread, because it blocks both signals for all threads started later.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard() = default;
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Sets a text to write to standard output before the end; a literal, "" for nothing.
  void SetFarewell(const char* text) { farewell_ = text; }

  // From now on the first signal only ends WaitNs, so that the command can clean up. The next
  // signal ends the process.
  void Hold() { holding_ = true; }
  // Waits for a signal after Hold, at most `ns`. Returns true if one came. For one thread.
  bool WaitNs(int64_t ns);
  // Returns 130 or 143; 0 if no signal was held back.
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
