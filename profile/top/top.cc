// SPDX-License-Identifier: Apache-2.0
#include "profile/top/top.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "profile/table/interner.h"
#include "profile/top/own_frame.h"

namespace firetower::profile {
namespace {

// Frames of one name in one binary, and of one line if that is asked for, are one row, whatever
// their addresses.
class Rows {
 public:
  Rows(const Profile& profile, TopBy by) : profile_(profile), by_(by), own_(profile) {
    rows_of_location_.resize(profile.location_count());
    for (uint32_t i = 0; i < profile.location_count(); ++i) {
      Location location = profile.location(i);
      size_t frames = std::max<size_t>(location.lines.size(), 1);
      for (size_t line = 0; line < frames; ++line) {
        rows_of_location_[i].push_back(RowOf(location, line));
      }
    }
    last_sample_.resize(rows_.size(), IdSet::kNone);
  }

  void Add(uint32_t sample_index, const Sample& sample, int64_t value) {
    if (const auto own = own_.Of(sample)) {
      TopRow& row = rows_[rows_of_location_[sample.locations[own->location]][own->line]];
      row.self = SaturatingAdd(row.self, value);
    }
    for (uint32_t location : sample.locations) {
      for (uint32_t row : rows_of_location_[location]) {
        if (last_sample_[row] == sample_index) continue;  // recursion counts once
        last_sample_[row] = sample_index;
        rows_[row].total = SaturatingAdd(rows_[row].total, value);
      }
    }
  }

  std::vector<TopRow> Take() && { return std::move(rows_); }

 private:
  uint32_t RowOf(const Location& location, size_t line) {
    std::string name = profile_.FrameName(location, line);
    std::string_view binary;
    if (location.mapping != kNoMapping) {
      binary = profile_.string(profile_.mapping(location.mapping).filename);
    }
    TopRow as_named{.function = std::move(name), .mapping = std::string(binary)};
    std::string key = as_named.function + '\0' + as_named.mapping;
    if (by_ == TopBy::kLine && line < location.lines.size() && location.lines[line].line > 0) {
      const Line& at = location.lines[line];
      as_named.file = profile_.string(profile_.function(at.function).filename);
      as_named.line = at.line;
      key += '\0' + as_named.file + '\0' + std::to_string(as_named.line);
    }
    uint32_t row = names_.Intern(std::span<const char>(key.data(), key.size()));
    if (row == rows_.size()) rows_.push_back(std::move(as_named));
    return row;
  }

  const Profile& profile_;
  const TopBy by_;
  const OwnFrames own_;
  Interner<char> names_;
  std::vector<TopRow> rows_;
  std::vector<std::vector<uint32_t>> rows_of_location_;
  std::vector<uint32_t> last_sample_;  // of each row: the sample that counted last
};

}  // namespace

TopResult Top(const Profile& profile, uint32_t value_index, size_t limit, TopBy by) {
  TopResult result{.value_type = profile.sample_types().at(value_index),
                   .total = profile.Total(value_index)};
  Rows rows(profile, by);
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    rows.Add(i, sample, sample.values[value_index]);
  }
  result.rows = std::move(rows).Take();
  std::erase_if(result.rows, [](const TopRow& row) { return row.self == 0 && row.total == 0; });
  result.functions = result.rows.size();
  std::ranges::sort(result.rows, [](const TopRow& a, const TopRow& b) {
    return std::tie(b.self, b.total, a.function, a.mapping, a.file, a.line) <
           std::tie(a.self, a.total, b.function, b.mapping, b.file, b.line);
  });
  if (limit != 0 && result.rows.size() > limit) result.rows.resize(limit);
  if (result.total != 0) {
    double percent = 100.0 / static_cast<double>(result.total);
    for (TopRow& row : result.rows) {
      row.self_percent = static_cast<double>(row.self) * percent;
      row.total_percent = static_cast<double>(row.total) * percent;
    }
  }
  return result;
}

}  // namespace firetower::profile
