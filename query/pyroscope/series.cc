// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/series.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "profile/type.h"
#include "proto/pyroscope/querier.pb.h"

namespace firetower::query::pyroscope {
namespace {

// As /api/v1/series: Prometheus' own bound.
constexpr int64_t kMaxPoints = 11'000;
constexpr size_t kMaxGroupLabels = 16;
constexpr double kMaxStepSeconds = 366.0 * 24 * 3600;
constexpr std::string_view kNameLabel = "__name__";

Status CheckAsked(const SelectRequest& request) {
  if (request.aggregation != 0) {
    return Error(ErrorCode::kUnsupported,
                 "values here are sums over time, of which there is no average: ask for the sum");
  }
  if (!request.call_site.empty()) {
    return Error(ErrorCode::kUnsupported,
                 "series by call site would need every profile to be read: select by labels");
  }
  if (request.group_by.size() > kMaxGroupLabels) {
    return Error(ErrorCode::kInvalid, fmt::format("group_by names {} labels: at most {}",
                                                  request.group_by.size(), kMaxGroupLabels));
  }
  if (!(request.step_seconds >= 1 && request.step_seconds <= kMaxStepSeconds)) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("step is {}: it must be a number of seconds from 1 to {}",
                             request.step_seconds, kMaxStepSeconds));
  }
  return OkStatus();
}

// Whole steps of the range; of one that is shorter than its step, the step.
Result<TimeRange> WholeSteps(const TimeRange& range, int64_t step_ns) {
  if ((range.to_ns - range.from_ns) / step_ns > kMaxPoints) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("a step of {} s makes more than {} points: take a longer one",
                             static_cast<double>(step_ns) / kNsPerSecond, kMaxPoints));
  }
  TimeRange whole{range.from_ns / step_ns * step_ns, range.to_ns / step_ns * step_ns};
  if (whole.to_ns <= whole.from_ns) whole.to_ns = whole.from_ns + step_ns;
  return whole;
}

double TotalOf(const store::Series& series) {
  double total = 0;
  for (const store::SeriesPoint& point : series.points) total += point.value;
  return total;
}

void CopySeries(const store::Series& series, const std::vector<std::string>& names, int64_t step_ns,
                proto::pyroscope::Series* to) {
  for (const std::string& name : names) {
    const std::string& value = series.labels.at(name);
    if (value.empty()) continue;
    proto::pyroscope::LabelPair* label = to->add_labels();
    label->set_name(name);
    label->set_value(name == kNameLabel ? PyroscopeName(value) : ToValidUtf8(value));
  }
  for (const store::SeriesPoint& point : series.points) {
    proto::pyroscope::Point* to_point = to->add_points();
    to_point->set_value(point.value);
    to_point->set_timestamp((point.start_ns + step_ns) / kNsPerMs);
  }
}

}  // namespace

Result<Answer> SelectSeries(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const SelectRequest request, ReadSelectSeriesRequest(message));
  RETURN_IF_ERROR(CheckAsked(request));
  ASSIGN_OR_RETURN(Question question, Ask(caller, request.type_id, request.selector, request.range,
                                          TypeDefault::kCpu));
  const int64_t step_ns =
      std::max<int64_t>(std::llround(request.step_seconds * kNsPerSecond), kNsPerSecond);
  ASSIGN_OR_RETURN(const TimeRange whole, WholeSteps(question.range, step_ns));
  question.query.from_ns = whole.from_ns;
  question.query.to_ns = whole.to_ns;
  ASSIGN_OR_RETURN(const RowValueAsked asked, RowValueOf(question));
  const auto open = caller.parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(store::SeriesResult found,
                   store::SeriesTotals(caller.parts.store, question.query, step_ns,
                                       request.group_by, open, question.limits, asked.row));
  if (request.limit > 0 && static_cast<uint64_t>(request.limit) < found.series.size()) {
    std::ranges::stable_sort(found.series, std::greater<>(), TotalOf);
    found.series.resize(static_cast<size_t>(request.limit));
  }
  proto::pyroscope::SelectSeriesResponse reply;
  for (const store::Series& series : found.series) {
    if (!series.points.empty()) CopySeries(series, request.group_by, step_ns, reply.add_series());
  }
  return Answer{.message = reply.SerializeAsString(), .skipped = std::move(found.skipped)};
}

}  // namespace firetower::query::pyroscope
