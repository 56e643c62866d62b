// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace firetower::daemon {

// Of what is tried again until it succeeds: which refusals are worth a line of the log. The first
// of a row, one of another kind, and one every kEveryNs. Belongs to one thread.
class RefusalLog {
 public:
  // Seldom enough for a store that is away over a week-end.
  static constexpr int64_t kEveryNs = 600 * kNsPerSecond;

  explicit RefusalLog(const Clock& clock) : clock_(clock) {}

  // How many refusals a line would be about, this one and those since the last line; none where
  // there is to be no line.
  std::optional<uint64_t> OnRefused(const Error& error);
  // How many refusals there were in the row that is over; none where there was no row.
  std::optional<uint64_t> OnTaken();

 private:
  using Kind = std::pair<ErrorCode, int>;  // with errno: messages hold keys and times

  const Clock& clock_;
  std::optional<Kind> told_;
  int64_t told_ns_ = 0;
  uint64_t untold_ = 0;
  uint64_t in_row_ = 0;
};

}  // namespace firetower::daemon
