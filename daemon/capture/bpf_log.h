// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::daemon {

// Collects what libbpf prints while it lives, so that a failed load can say why. One at a time:
// libbpf has one print function a process.
class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  // "<what>: <errno text>: <last lines of the log>".
  Error Failure(std::string_view what, int sys_errno) const;
};

}  // namespace firetower::daemon
