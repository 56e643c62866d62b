// SPDX-License-Identifier: Apache-2.0
#include "query/heat/heat_grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace firetower::query {
namespace {

using profile::SampleTimes;

constexpr int64_t kSecondMs = 1000;
constexpr std::string_view kNoLabel = "(none)";
constexpr std::string_view kOther = "other";

// The value of a label of a sample; "" if it has none.
std::string LabelOf(const profile::Profile& profile, const profile::Sample& sample,
                    std::string_view name) {
  for (const profile::Label& label : sample.labels) {
    if (profile.string(label.key) != name) continue;
    return label.is_number != 0 ? std::to_string(label.number)
                                : std::string(profile.string(label.string_value));
  }
  return {};
}

}  // namespace

Result<HeatGrid> HeatGrid::Create(const HeatOptions& options, int64_t from_ns, int64_t to_ns) {
  HeatGrid grid;
  grid.options_ = options;
  grid.from_ns_ = from_ns;
  grid.to_ns_ = to_ns;
  const int64_t column_ns = options.column_ms * kNsPerMs;
  grid.begin_ns_ = from_ns / column_ns * column_ns;
  grid.columns_ = (to_ns - grid.begin_ns_ + column_ns - 1) / column_ns;
  const auto rows = static_cast<int64_t>(grid.RowWidth());
  if (grid.columns_ > HeatOptions::kMaxCells / rows) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("a heat map of {} columns and {} rows: at most {} cells; ask for a "
                             "shorter time, or by=pod with a longer step",
                             grid.columns_, rows, HeatOptions::kMaxCells));
  }
  grid.known_.assign(static_cast<size_t>(grid.columns_), '.');
  if (!options.paint.empty()) {
    auto made = profile::StackFilter::Create({.focus = options.paint});
    if (!made) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("parameter 'paint': {}", made.error().message()));
    }
    grid.paint_ = *std::move(made);
  }
  return grid;
}

size_t HeatGrid::RowWidth() const {
  return options_.by_offset() ? static_cast<size_t>(options_.offset_rows) : options_.most_rows;
}

HeatGrid::Row& HeatGrid::RowOf(const std::string& name) {
  // Beyond some 32 MB of cells further labels are not told apart.
  const bool is_full = static_cast<int64_t>(rows_.size()) * columns_ > 2 * HeatOptions::kMaxCells;
  std::string key = name.empty() ? std::string(kNoLabel) : name;
  if (is_full && !rows_.contains(key)) key = kOther;
  const auto [at, is_new] = rows_.try_emplace(std::move(key));
  if (is_new) {
    const size_t rows = options_.by_offset() ? RowWidth() : 1;
    at->second.cells.resize(static_cast<size_t>(columns_) * rows);
    if (paint_) at->second.painted.resize(at->second.cells.size());
  }
  return at->second;
}

std::vector<HeatGrid::Row*> HeatGrid::RowsOf(const TimedWindow& window) {
  std::vector<Row*> rows;
  for (uint32_t i = 0; i < window.profile->sample_count(); ++i)
    rows.push_back(&RowOf(LabelOf(*window.profile, window.profile->sample(i), options_.by)));
  return rows;
}

void HeatGrid::MarkKnown(const TimedWindow& window) {
  const bool is_timed = !window.times.empty();
  const int64_t column_ns = options_.column_ms * kNsPerMs;
  const int64_t begin = std::max(window.row.start_ns, from_ns_);
  const int64_t end = std::min(window.row.end_ns(), to_ns_);
  if (begin >= end) return;
  for (int64_t column = (begin - begin_ns_) / column_ns;
       column <= (end - 1 - begin_ns_) / column_ns; ++column) {
    char& known = known_[static_cast<size_t>(column)];
    if (is_timed || known == '.') known = is_timed ? 't' : 'c';
  }
  if (!is_timed) untimed_ += window.row.samples;
}

void HeatGrid::Add(const TimedWindow& window) {
  MarkKnown(window);
  if (window.times.empty()) return;
  std::vector<bool> painted;
  if (paint_) painted = paint_->Kept(*window.profile);
  std::vector<Row*> rows;
  if (options_.by_sample_label()) rows = RowsOf(window);
  Row* const one =
      !rows.empty() ? nullptr
                    : &RowOf(options_.by_offset() ? options_.by
                                                  : store::LabelValueOf(window.row, options_.by));
  const int64_t column_slots = options_.column_ms * kNsPerMs / SampleTimes::kSlotNs;
  const int64_t begin_slot = begin_ns_ / SampleTimes::kSlotNs;
  const int64_t row_slots = SampleTimes::kSlotsPerSecond / options_.offset_rows;
  for (const SampleTimes::Taken& taken : window.times.taken()) {
    const int64_t slot = window.times.SlotOf(taken);
    // A slot belongs to the range if it begins in it.
    const int64_t ns = slot * SampleTimes::kSlotNs;
    if (ns < from_ns_ / SampleTimes::kSlotNs * SampleTimes::kSlotNs || ns >= to_ns_) continue;
    Row& row = one != nullptr ? *one : *rows[taken.sample];
    auto cell = static_cast<size_t>((slot - begin_slot) / column_slots);
    if (options_.by_offset()) {
      cell =
          cell * RowWidth() + static_cast<size_t>(slot % SampleTimes::kSlotsPerSecond / row_slots);
    }
    ++row.samples;
    ++row.cells[cell];
    if (paint_ && painted[taken.sample]) ++row.painted[cell];
  }
}

void HeatGrid::Take(const Row& row, size_t at, HeatReply& reply) const {
  for (int64_t column = 0; column < columns_; ++column) {
    const size_t cell = reply.At(column, at);
    reply.cells[cell] += row.cells[static_cast<size_t>(column)];
    if (paint_) reply.painted[cell] += row.painted[static_cast<size_t>(column)];
  }
}

void HeatGrid::TakeLabels(HeatReply& reply) const {
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [name, row] : rows_) {
    // Labels that are not told apart come last, whatever they have.
    order.emplace_back(name == kOther ? 1 : -row.samples, name);
  }
  std::ranges::sort(order);
  const size_t shown = std::min(order.size(), options_.most_rows);
  for (size_t i = 0; i < shown; ++i) reply.rows.emplace_back(order[i].second);
  if (order.size() > shown) {
    reply.rows.back() = kOther;
    reply.other_rows = static_cast<int64_t>(order.size() - shown + 1);
  }
  reply.cells.resize(static_cast<size_t>(columns_) * shown);
  if (paint_) reply.painted.resize(reply.cells.size());
  for (size_t i = 0; i < order.size(); ++i)
    Take(rows_.find(order[i].second)->second, std::min(i, shown - 1), reply);
}

HeatReply HeatGrid::Finish() && {
  HeatReply reply;
  reply.by = options_.by;
  reply.paint = options_.paint;
  reply.from_ms = from_ns_ / kNsPerMs;
  reply.to_ms = to_ns_ / kNsPerMs;
  reply.begin_ms = begin_ns_ / kNsPerMs;
  reply.column_ms = options_.column_ms;
  reply.columns = columns_;
  reply.known = std::move(known_);
  reply.untimed_samples = untimed_;
  if (options_.by_offset()) {
    reply.row_ms = kSecondMs / options_.offset_rows;
    for (int64_t i = 0; i < options_.offset_rows; ++i)
      reply.rows.push_back(std::to_string(i * reply.row_ms));
    Row& all = RowOf(options_.by);
    reply.cells = std::move(all.cells);
    reply.painted = std::move(all.painted);
  } else {
    TakeLabels(reply);
  }
  reply.samples = std::accumulate(reply.cells.begin(), reply.cells.end(), int64_t{0});
  reply.painted_samples = std::accumulate(reply.painted.begin(), reply.painted.end(), int64_t{0});
  return reply;
}

}  // namespace firetower::query
