// SPDX-License-Identifier: Apache-2.0
// Single columns of a sample's first line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace firetower::profile {

// `12345.678901:`, seconds with as many decimals as nanoseconds have, or fewer, as nanoseconds.
std::optional<int64_t> ParsePerfTime(std::string_view word);
// `[003]`.
std::optional<int64_t> ParsePerfCpu(std::string_view word);
// A name that ends in a colon, or the kind of a line that is no sample.
bool IsPerfEventWord(std::string_view word);

// Takes columns off the front of a line, each padded to its width and followed by one blank; the
// last ones' blanks may be cut off. What does not fit is left.
class PerfColumns {
 public:
  explicit PerfColumns(std::string_view rest) : rest_(rest) {}

  std::optional<int64_t> TakeNumber(size_t width);
  bool TakePair(size_t width, int64_t* pid, int64_t* tid);
  std::optional<int64_t> TakeCpu();
  // Sets `*has_letters` when there is more than blanks.
  bool TakeMisc(bool* has_letters);
  bool TakeTimeOfDay();
  std::optional<int64_t> TakeTime();
  std::optional<std::string_view> TakeEvent();
  std::string_view rest() const { return rest_; }

 private:
  // Drops `size` bytes and the blank behind them; false when something else is there.
  bool Drop(size_t size);

  std::string_view rest_;
};

}  // namespace firetower::profile
