// SPDX-License-Identifier: Apache-2.0
// Draws a heat map: on a terminal, as SVG or HTML, or as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/term/terminal.h"
#include "query/heat/heat_reply.h"

namespace firetower::cli {

// How a cell's count becomes a shade: by its size, or by its place among all counts, which shows
// differences between small ones.
enum class HeatScale : uint8_t { kLinear, kRank };

// The shades of the cells that a picture shows, from 0 (empty) to 1 (the highest).
class HeatShades {
 public:
  HeatShades(const std::vector<uint32_t>& cells, HeatScale scale);
  double Of(uint32_t count) const;
  uint32_t most() const { return most_; }

 private:
  HeatScale scale_;
  uint32_t most_ = 0;
  std::vector<uint32_t> distinct_;  // rising; by rank only
};

// One line that says what the map holds: "1,204 samples, at most 9 in a cell; …".
std::string HeatNote(const query::HeatReply& heat);

// Draws with blocks, two rows of a second to a line, as wide as the terminal. Cells of stacks that
// were painted are blue, or where there is no colour the only ones.
std::string HeatText(const query::HeatReply& heat, HeatScale scale, std::string_view title,
                     const Terminal& terminal);
// Draws a picture by itself.
std::string HeatSvg(const query::HeatReply& heat, HeatScale scale, std::string_view title);
// The same picture in a page, without scripts.
std::string HeatHtml(const query::HeatReply& heat, HeatScale scale, std::string_view title);
// A line for each cell that has samples: its time, the row, the count, and what was painted.
std::string HeatCsv(const query::HeatReply& heat);

}  // namespace firetower::cli
