// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bpf/abi/offcpu.h"

namespace firetower::daemon {

// A thread that waits now.
struct WaitingThread {
  uint32_t tid = 0;
  ft_waiting wait = {};
};

// The threads that wait. Any thread may ask.
class WaitingThreads {
 public:
  virtual ~WaitingThreads() = default;
  // Lists the waits that go on, of sampled threads of wanted cgroups. The list is read while
  // threads come and go: one whose wait ends meanwhile may be missing, because it is told as a
  // record.
  virtual std::vector<WaitingThread> WaitsThatGoOn() const = 0;
};

}  // namespace firetower::daemon
