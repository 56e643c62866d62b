// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/select/stack_filter.h"
#include "query/heat/heat_reply.h"
#include "query/heat/timed_reading.h"

namespace firetower::query {

struct HeatOptions {
  static constexpr int64_t kMaxCells = 4'000'000;

  std::string by = "offset";  // or a label of the catalog, or of samples: comm, thread, cpu
  int64_t offset_rows = 50;   // a divisor of 50
  int64_t column_ms = 1000;   // a multiple of 20; by offset a second
  size_t most_rows = 50;      // by a label; what does not fit is the last row, "other"
  std::string paint = {};     // a regular expression (RE2) of function names; "": none

  bool by_offset() const { return by == "offset"; }
  // Tells whether the rows are a label of samples, which only the profile has.
  bool by_sample_label() const { return by == "comm" || by == "thread" || by == "cpu"; }
  bool needs_profiles() const { return !paint.empty() || by_sample_label(); }
};

// Counts the samples of windows in cells of time. Used by one thread.
class HeatGrid {
 public:
  // A grid of [from_ns, to_ns) of Unix time. kInvalid: it has more than kMaxCells, or the
  // expression does not compile.
  static Result<HeatGrid> Create(const HeatOptions& options, int64_t from_ns, int64_t to_ns);

  // `window` must have a profile if the options need one.
  void Add(const TimedWindow& window);
  // Sets all but the type and the skipped profiles.
  HeatReply Finish() &&;

 private:
  struct Row {
    int64_t samples = 0;
    std::vector<uint32_t> cells = {};
    std::vector<uint32_t> painted = {};
  };

  HeatGrid() = default;
  size_t RowWidth() const;
  // Returns the row of each sample of the profile.
  std::vector<Row*> RowsOf(const TimedWindow& window);
  Row& RowOf(const std::string& name);
  void MarkKnown(const TimedWindow& window);
  void Take(const Row& row, size_t at, HeatReply& reply) const;
  void TakeLabels(HeatReply& reply) const;

  HeatOptions options_;
  int64_t from_ns_ = 0;
  int64_t to_ns_ = 0;
  int64_t begin_ns_ = 0;  // of column 0
  int64_t columns_ = 0;
  std::string known_;
  std::optional<profile::StackFilter> paint_;
  std::map<std::string, Row, std::less<>> rows_;  // by label; by offset one row holds all
  int64_t untimed_ = 0;
};

}  // namespace firetower::query
