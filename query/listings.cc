// SPDX-License-Identifier: Apache-2.0
#include "query/listings.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "base/units.h"
#include "profile/type.h"
#include "query/http/params.h"
#include "query/question.h"
#include "query/top/top.h"
#include "query/wire.h"

namespace firetower::query {
namespace {

constexpr int64_t kDefaultTop = 10;
constexpr int64_t kMaxTop = 1000;
// Prometheus' own bound on points a series, so that a mistyped step cannot exhaust memory.
constexpr int64_t kMaxPoints = 11'000;
constexpr size_t kMaxGroupLabels = 16;

// Runs `answer`, which returns Result<HttpResponse>, and turns its error into a response.
template <typename Answer>
net::HttpResponse OrError(const Answer& answer) {
  Result<net::HttpResponse> response = answer();
  return response ? *std::move(response) : ErrorResponse(response.error());
}

Result<net::HttpResponse> Top(const net::HttpRequest& request, const ApiParts& parts) {
  constexpr std::string_view kParams[] = {
      "by",      "k",     "type",   "q",    "from", "to",        "seconds",  "exact",
      "offsets", "focus", "ignore", "hide", "show", "show-from", "tagfocus", "tagignore"};
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(int64_t k, params.GetInt("k", kDefaultTop, 1, kMaxTop));
  std::string by(params.Has("by") ? params.Get("by") : "containers");
  constexpr std::string_view kBy[] = {"containers", "functions", "lines", "processes", "traces"};
  if (std::ranges::find(kBy, by) == std::end(kBy)) {
    return Error(ErrorCode::kInvalid, fmt::format("parameter 'by' is '{}': it must be containers, "
                                                  "functions, lines, processes or traces{}",
                                                  by, DidYouMean(by, kBy)));
  }
  ASSIGN_OR_RETURN(Question question, ReadQuestion(request, params, parts, TypeDefault::kCpu));
  if ((question.query.cut || question.query.stacks) && by == "containers") {
    return Error(ErrorCode::kInvalid,
                 "'exact', 'offsets' and filters of stacks take parts of profiles, of which "
                 "containers have only the sums: ask by functions, lines, processes or traces");
  }
  auto open = parts.live.OpenProfiles();
  auto top = by == "containers"  ? TopContainers
             : by == "functions" ? TopFunctions
             : by == "lines"     ? TopLines
             : by == "traces"    ? TopTraces
                                 : TopProcesses;
  store::SkippedList skipped;
  ASSIGN_OR_RETURN(TopReply reply,
                   top(parts.store, question, open, static_cast<size_t>(k), &skipped));
  net::HttpResponse response = JsonResponse(ToJson(reply), skipped);
  if (reply.max_hidden > 0 && reply.total > 0) {
    NoteCoarse(static_cast<double>(reply.max_hidden) / static_cast<double>(reply.total), response);
  }
  return response;
}

// Checks that `label` is a label of profiles: an unknown name is a mistake, not an empty answer.
Status CheckLabel(std::string_view parameter, std::string_view label) {
  const std::vector<std::string>& known = store::CatalogLabelNames();
  if (std::find(known.begin(), known.end(), label) != known.end()) return OkStatus();
  return Error(ErrorCode::kInvalid, fmt::format("parameter '{}': no label '{}'; the labels are {}",
                                                parameter, label, fmt::join(known, ", ")));
}

// "namespace,pod" as label names; the empty text is every label a container is known by.
Result<std::vector<std::string>> GroupLabels(std::string_view text) {
  if (text.empty()) return std::vector<std::string>{"namespace", "pod", "container"};
  std::vector<std::string> labels;
  while (!text.empty()) {
    std::string_view label = text.substr(0, text.find(','));
    text.remove_prefix(std::min(label.size() + 1, text.size()));
    RETURN_IF_ERROR(CheckLabel("by", label));
    labels.emplace_back(label);
    if (labels.size() > kMaxGroupLabels) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("parameter 'by': at most {} labels", kMaxGroupLabels));
    }
  }
  return labels;
}

Result<int64_t> ReadStep(const Params& params, const TimeRange& range) {
  if (!params.Has("step")) return int64_t{0};
  ASSIGN_OR_RETURN(int64_t step_ns,
                   ParseDurationNs(params.Get("step")).Context("parameter 'step'"));
  if (step_ns < kNsPerSecond || (range.to_ns - range.from_ns) / step_ns > kMaxPoints) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("parameter 'step' is {}: it must be 1s or more and give at most {} "
                             "points over the range",
                             params.Get("step"), kMaxPoints));
  }
  return step_ns;
}

Result<net::HttpResponse> Series(const net::HttpRequest& request, const ApiParts& parts) {
  constexpr std::string_view kParams[] = {"by", "step", "type", "q", "from", "to", "seconds"};
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(std::vector<std::string> by, GroupLabels(params.Get("by")));
  ASSIGN_OR_RETURN(Question question, ReadQuestion(request, params, parts, TypeDefault::kCpu));
  ASSIGN_OR_RETURN(const RowValueAsked asked, RowValueOf(question));
  ASSIGN_OR_RETURN(int64_t step_ns, ReadStep(params, question.range));

  auto open = parts.live.OpenProfiles();
  // Without a step only the totals are returned; any step of at least 1 s adds up to them.
  const int64_t range_ns = question.range.to_ns - question.range.from_ns;
  const int64_t sum_step_ns = step_ns > 0 ? step_ns : std::max(range_ns, kNsPerSecond);
  ASSIGN_OR_RETURN(store::SeriesResult result,
                   store::SeriesTotals(parts.store, question.query, sum_step_ns, by, open,
                                       question.limits, asked.row));
  SeriesReply reply;
  reply.type = question.query.type->Name();
  reply.unit = asked.value.unit;
  reply.from_ms = question.range.from_ns / kNsPerMs;
  reply.to_ms = question.range.to_ns / kNsPerMs;
  reply.step_seconds = static_cast<double>(step_ns) / kNsPerSecond;
  reply.skipped = static_cast<int64_t>(result.skipped.total);
  for (store::Series& series : result.series) {
    SeriesReply::Series& one = reply.series.emplace_back();
    one.labels = std::move(series.labels);
    for (const store::SeriesPoint& point : series.points) {
      one.total += point.value;
      if (step_ns > 0) one.points.emplace_back(point.start_ns / kNsPerMs, point.value);
    }
  }
  return JsonResponse(ToJson(reply), result.skipped);
}

Result<net::HttpResponse> Labels(const net::HttpRequest& request, const ApiParts& parts) {
  constexpr std::string_view kParams[] = {"name", "type", "q", "from", "to", "seconds"};
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(Question question, ReadQuestion(request, params, parts, TypeDefault::kAny));
  LabelsReply reply;
  reply.name = params.Get("name");
  // Names of two underscores are those of Pyroscope's types.
  if (!reply.name.empty() && !reply.name.starts_with("__")) {
    RETURN_IF_ERROR(CheckLabel("name", reply.name));
  }
  auto open = parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(
      store::LabelsResult result,
      reply.name.empty()
          ? store::LabelNames(parts.store, question.query, open, question.limits)
          : store::LabelValues(parts.store, question.query, reply.name, open, question.limits));
  reply.values = std::move(result.values);
  return JsonResponse(ToJson(reply), result.skipped);
}

Result<net::HttpResponse> Types(const net::HttpRequest& request, const ApiParts& parts) {
  constexpr std::string_view kParams[] = {"q", "from", "to", "seconds"};
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(Question question, ReadQuestion(request, params, parts, TypeDefault::kAny));
  auto open = parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(
      store::LabelsResult result,
      store::LabelValues(parts.store, question.query, "__name__", open, question.limits));
  TypesReply reply;
  for (const std::string& name : result.values) {
    TypesReply::Type& one = reply.types.emplace_back();
    one.name = name;
    // A type of a newer version is returned with its name only.
    if (auto type = profile::ParseProfileType(name)) {
      one.id = type->PyroscopeId();
      one.unit = type->MainValue().unit;
    }
  }
  return JsonResponse(ToJson(reply), result.skipped);
}

}  // namespace

net::HttpResponse ServeTop(const net::HttpRequest& request, const ApiParts& parts) {
  return OrError([&] { return Top(request, parts); });
}

net::HttpResponse ServeSeries(const net::HttpRequest& request, const ApiParts& parts) {
  return OrError([&] { return Series(request, parts); });
}

net::HttpResponse ServeLabels(const net::HttpRequest& request, const ApiParts& parts) {
  return OrError([&] { return Labels(request, parts); });
}

net::HttpResponse ServeTypes(const net::HttpRequest& request, const ApiParts& parts) {
  return OrError([&] { return Types(request, parts); });
}

}  // namespace firetower::query
