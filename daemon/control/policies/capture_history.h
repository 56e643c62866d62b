// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace firetower::daemon {

// When triggers captured in the last hour, by policy, in a file: an agent that is restarted, or
// dies again and again of what fires them, keeps to maxCapturesPerHour all the same. A file of
// lines "<Unix time, ms> <policy>"; what makes no sense in it is left out. One thread.
class CaptureHistory {
 public:
  static constexpr int64_t kKeepNs = 3600'000'000'000;
  // Policies times captures an hour; beyond it the oldest go.
  static constexpr size_t kMaxCaptures = 4096;

  // Reads what there is; a file that is not there is an empty one.
  CaptureHistory(std::string path, int64_t now_wall_ns);

  // Records a capture. An error is only for the log: the capture goes on.
  Status Add(const std::string& policy, int64_t wall_ns);
  // By policy, in order.
  std::map<std::string, std::vector<int64_t>> ByPolicy() const;

 private:
  struct Capture {
    int64_t wall_ns = 0;
    std::string policy;
  };
  void Forget(int64_t now_wall_ns);

  const std::string path_;
  std::vector<Capture> captures_;
};

}  // namespace firetower::daemon
