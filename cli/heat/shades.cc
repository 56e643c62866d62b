// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "cli/heat/picture.h"
#include "profile/value_text.h"
#include "query/time_range.h"

namespace firetower::cli {

HeatShades::HeatShades(const std::vector<uint32_t>& cells, HeatScale scale) : scale_(scale) {
  for (const uint32_t count : cells) most_ = std::max(most_, count);
  if (scale == HeatScale::kLinear) return;
  for (const uint32_t count : cells) {
    if (count > 0) distinct_.push_back(count);
  }
  std::ranges::sort(distinct_);
  const auto rest = std::ranges::unique(distinct_);
  distinct_.erase(rest.begin(), rest.end());
}

double HeatShades::Of(uint32_t count) const {
  if (count == 0) return 0;
  if (scale_ == HeatScale::kLinear) return static_cast<double>(count) / most_;
  const auto place = std::ranges::upper_bound(distinct_, count) - distinct_.begin();
  return static_cast<double>(place) / static_cast<double>(distinct_.size());
}

std::string HeatNote(const query::HeatReply& heat) {
  const uint32_t most = HeatShades(heat.cells, HeatScale::kLinear).most();
  std::string note = fmt::format("{} samples, at most {} in a cell",
                                 profile::FormatCount(heat.samples), profile::FormatCount(most));
  if (!heat.paint.empty()) {
    const double percent = heat.samples > 0 ? 100.0 * static_cast<double>(heat.painted_samples) /
                                                  static_cast<double>(heat.samples)
                                            : 0;
    note += fmt::format("; {} ({:.1f} %) of stacks with {}",
                        profile::FormatCount(heat.painted_samples), percent, heat.paint);
  }
  if (heat.other_rows > 0)
    note += fmt::format("; the last row is the sum of {} others", heat.other_rows);
  if (heat.untimed_samples > 0) {
    note += fmt::format(
        "; {} samples are in no cell: their windows do not say when they were "
        "taken",
        profile::FormatCount(heat.untimed_samples));
  }
  return note;
}

std::string HeatCsv(const query::HeatReply& heat) {
  const bool is_painted = !heat.paint.empty();
  std::string out = heat.row_ms > 0 ? "time,offset_ms,samples" : "time,row,samples";
  out += is_painted ? ",painted\n" : "\n";
  for (int64_t column = 0; column < heat.columns; ++column) {
    const int64_t ms = heat.begin_ms + column * heat.column_ms;
    const std::string time = query::FormatTimeUtc(ms * kNsPerMs);
    for (size_t row = 0; row < heat.rows.size(); ++row) {
      const size_t cell = heat.At(column, row);
      if (heat.cells[cell] == 0) continue;
      std::string name = heat.rows[row];
      if (name.find_first_of(",\"\r\n") != name.npos) {
        std::string quoted;
        for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
        name = "\"" + quoted + "\"";
      }
      out += fmt::format("{},{},{}", time, name, heat.cells[cell]);
      out += is_painted ? fmt::format(",{}\n", heat.painted[cell]) : "\n";
    }
  }
  return out;
}

}  // namespace firetower::cli
