// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::daemon {

// Collects libbpf's messages while it exists, so that a failed load can be explained. Only one may
// exist at a time, because libbpf has one print function per process.
class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  // Returns "<what>: <errno text>: <last lines of the log>".
  Error Failure(std::string_view what, int sys_errno) const;
};

}  // namespace firetower::daemon
