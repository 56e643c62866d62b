// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/service.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "proto/pyroscope/querier.pb.h"
#include "query/http/errors.h"
#include "query/pyroscope/connect.h"
#include "query/pyroscope/graph.h"
#include "query/pyroscope/labels.h"
#include "query/pyroscope/series.h"

namespace firetower::query::pyroscope {
namespace {

constexpr std::string_view kQuerier = "/querier.v1.QuerierService/";
constexpr std::string_view kSettings = "/settings.v1.SettingsService/";

// No settings are kept; Grafana asks for them.
Result<Answer> NoSettings(const Caller&, std::string_view) { return Answer{}; }

namespace pb = proto::pyroscope;

struct Method {
  std::string_view path;
  const google::protobuf::Descriptor* (*request)();
  const google::protobuf::Descriptor* (*reply)();
  Result<Answer> (*answer)(const Caller& caller, std::string_view message);
};

constexpr Method kMethods[] = {
    {"/querier.v1.QuerierService/ProfileTypes", pb::ProfileTypesRequest::descriptor,
     pb::ProfileTypesResponse::descriptor, ProfileTypes},
    {"/querier.v1.QuerierService/LabelNames", pb::LabelNamesRequest::descriptor,
     pb::NamesResponse::descriptor, LabelNames},
    {"/querier.v1.QuerierService/LabelValues", pb::LabelValuesRequest::descriptor,
     pb::NamesResponse::descriptor, LabelValues},
    {"/querier.v1.QuerierService/Series", pb::SeriesRequest::descriptor,
     pb::SeriesResponse::descriptor, LabelSets},
    {"/querier.v1.QuerierService/GetProfileStats", pb::Empty::descriptor,
     pb::GetProfileStatsResponse::descriptor, ProfileStats},
    {"/querier.v1.QuerierService/SelectSeries", pb::SelectSeriesRequest::descriptor,
     pb::SelectSeriesResponse::descriptor, SelectSeries},
    {"/querier.v1.QuerierService/SelectMergeStacktraces",
     pb::SelectMergeStacktracesRequest::descriptor, pb::SelectMergeStacktracesResponse::descriptor,
     SelectMergeStacktraces},
    {"/querier.v1.QuerierService/SelectMergeSpanProfile",
     pb::SelectMergeSpanProfileRequest::descriptor, pb::SelectMergeStacktracesResponse::descriptor,
     SelectMergeSpanProfile},
    {"/querier.v1.QuerierService/SelectMergeProfile", pb::SelectMergeProfileRequest::descriptor,
     proto::pprof::Profile::descriptor, SelectMergeProfile},
    {"/querier.v1.QuerierService/Diff", pb::DiffRequest::descriptor, pb::DiffResponse::descriptor,
     DiffGraph},
    {"/settings.v1.SettingsService/Get", pb::Empty::descriptor, pb::Empty::descriptor, NoSettings},
};

// A message in JSON is up to four times as long as the sum that it was made of.
constexpr size_t kJsonOfMerged = 4;

const Method* FindMethod(std::string_view path) {
  const auto found = std::ranges::find(kMethods, path, &Method::path);
  return found == std::end(kMethods) ? nullptr : &*found;
}

Result<net::HttpResponse> Call(const Method& method, Codec codec, const net::HttpRequest& request,
                               const ApiParts& parts) {
  ASSIGN_OR_RETURN(const std::string message, ReadMessage(request, codec, *method.request()));
  ASSIGN_OR_RETURN(Answer answer, method.answer({request, parts}, message));
  ASSIGN_OR_RETURN(net::HttpResponse response,
                   MessageResponse(request, codec, *method.reply(), std::move(answer.message),
                                   kJsonOfMerged * parts.limits.max_merged_bytes));
  NoteSkipped(answer.skipped, response);
  NoteCoarse(answer.max_hidden_share, response);
  return response;
}

net::HttpResponse Serve(const Method* method, const net::HttpRequest& request,
                        const ApiParts& parts) {
  if (method == nullptr) {
    return ConnectError(501, fmt::format("there is no method {}", request.path));
  }
  if (request.method != "POST") {
    net::HttpResponse response =
        JsonError(405, fmt::format("{} takes POST, not {}", request.path, request.method));
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
  const std::optional<Codec> codec = CodecOf(request.content_type);
  if (!codec) {
    net::HttpResponse response = JsonError(
        415, fmt::format("Content-Type is '{}': it must be application/proto or application/json",
                         request.content_type));
    response.headers.emplace_back("Accept-Post", "application/proto, application/json");
    return response;
  }
  Result<net::HttpResponse> response = Call(*method, *codec, request, parts);
  return response ? *std::move(response) : ConnectError(response.error());
}

}  // namespace

bool IsServicePath(std::string_view path) {
  return path.starts_with(kQuerier) || path.starts_with(kSettings);
}

std::string_view ServiceRoute(std::string_view path) {
  const Method* method = FindMethod(path);
  return method == nullptr ? std::string_view() : method->path;
}

net::HttpResponse ServeService(const net::HttpRequest& request, const ApiParts& parts) {
  const Method* method = FindMethod(request.path);
  net::HttpResponse response = Serve(method, request, parts);
  if (method != nullptr) response.route = method->path;
  return response;
}

}  // namespace firetower::query::pyroscope
