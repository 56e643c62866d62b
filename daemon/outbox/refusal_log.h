// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace firetower::daemon {

// Chooses which refusals of a retried operation are logged: the first of a series, one of another
// kind, and one every kEveryNs. Belongs to one thread.
class RefusalLog {
 public:
  // Ten minutes: the log stays short even if a store is away over a weekend.
  static constexpr int64_t kEveryNs = 600 * kNsPerSecond;

  explicit RefusalLog(const Clock& clock) : clock_(clock) {}

  // Returns the number of refusals since the last log line, including this one; nothing if this one
  // is not to be logged.
  std::optional<uint64_t> OnRefused(const Error& error);
  // Returns the number of refusals in the series that has ended; nothing if there was none.
  std::optional<uint64_t> OnTaken();

 private:
  using Kind = std::pair<ErrorCode, int>;  // with errno: messages hold keys and times

  const Clock& clock_;
  std::optional<Kind> reported_;
  int64_t reported_ns_ = 0;
  uint64_t unreported_ = 0;
  uint64_t in_row_ = 0;
};

}  // namespace firetower::daemon
