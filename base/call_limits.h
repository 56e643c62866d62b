// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>

#include "base/clock.h"
#include "base/result.h"

namespace firetower {

// When a call has to end without its result: kUnavailable says which of the two it was.
struct CallLimits {
  static constexpr int64_t kNoDeadline = INT64_MAX;

  std::stop_token stop = {};
  int64_t deadline_ns = kNoDeadline;  // on the monotonic clock
};

// kUnavailable when `limits` say that it is over.
Status CheckLimits(const CallLimits& limits, const Clock& clock = Clock::System());

}  // namespace firetower
