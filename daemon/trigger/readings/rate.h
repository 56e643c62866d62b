// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "daemon/trigger/metric_source.h"

namespace firetower::daemon {

// The rate of a kernel counter between readings. If the counter falls, it was reset (the cgroup was
// created again with the same name), and measuring starts again.
class Rate {
 public:
  struct Growth {
    NoReading missing = NoReading::kNone;
    uint64_t amount = 0;
    int64_t from_ns = 0;
    int64_t at_ns = 0;
    explicit operator bool() const { return missing == NoReading::kNone; }

    double seconds() const { return static_cast<double>(at_ns - from_ns) / kNsPerSecond; }
    double PerSecond() const { return static_cast<double>(amount) / seconds(); }
  };

  Growth Step(uint64_t count, int64_t now_ns) {
    const std::optional<Look> before = last_;
    if (before && now_ns <= before->at_ns) return {NoReading::kUnreadable, 0, 0, 0};
    last_ = Look{count, now_ns};
    if (!before) return {NoReading::kFirst, 0, 0, 0};
    if (count < before->count) return {NoReading::kUnreadable, 0, 0, 0};
    return {NoReading::kNone, count - before->count, before->at_ns, now_ns};
  }

 private:
  struct Look {
    uint64_t count;
    int64_t at_ns;
  };
  std::optional<Look> last_;
};

}  // namespace firetower::daemon
