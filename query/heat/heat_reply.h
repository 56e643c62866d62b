// SPDX-License-Identifier: Apache-2.0
// The answer of /api/v1/heat, written by the server and read by the CLI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::query {

// Samples by time: columns from left to right, rows from top to bottom.
struct HeatReply {
  std::string type;   // "cpu"
  std::string by;     // "offset", or the label of the rows
  std::string paint;  // the expression, or ""
  int64_t from_ms = 0;
  int64_t to_ms = 0;      // what was asked for, between column 0's begin and the last one's end
  int64_t begin_ms = 0;   // of column 0
  int64_t column_ms = 0;  // how wide a column is; by offset a second
  int64_t row_ms = 0;     // by offset, how high a row is; else 0
  // By offset "0", "20", …: milliseconds; else the label's values, the one with most samples first.
  std::vector<std::string> rows;
  int64_t columns = 0;
  // For each column 't': the times of its samples are known; 'c': only that they are of its
  // window, so that they are in no cell; '.': there are none.
  std::string known;
  std::vector<uint32_t> cells;    // samples; column after column
  std::vector<uint32_t> painted;  // of these, those of stacks that `paint` matches; empty without
  int64_t samples = 0;            // in all cells
  int64_t painted_samples = 0;
  int64_t untimed_samples = 0;  // of windows that do not say when
  int64_t other_rows = 0;       // in the last row, "other", if there are more than fit
  int64_t skipped = 0;          // profiles that could not be read

  size_t At(int64_t column, size_t row) const {
    return static_cast<size_t>(column) * rows.size() + row;
  }
};

std::string ToJson(const HeatReply& reply);
// Parses an answer. kCorrupt: the text is not such an answer. Unknown members are ignored.
Result<HeatReply> HeatReplyFromJson(std::string_view json);

}  // namespace firetower::query
