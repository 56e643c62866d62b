// SPDX-License-Identifier: Apache-2.0
#include "query/api.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "query/app/pages.h"
#include "query/diagnose/diagnose_endpoint.h"
#include "query/flame/file_endpoint.h"
#include "query/flame/flame_endpoint.h"
#include "query/heat/heat_endpoint.h"
#include "query/http/errors.h"
#include "query/http/params.h"
#include "query/listings.h"
#include "query/mcp/mcp_endpoint.h"
#include "query/policies/policies_endpoint.h"
#include "query/profiles/diff_endpoint.h"
#include "query/profiles/list_endpoint.h"
#include "query/profiles/profile_endpoint.h"
#include "query/pyroscope/connect.h"
#include "query/pyroscope/service.h"
#include "query/question.h"
#include "query/rollouts/rollouts_endpoint.h"
#include "query/wire.h"

namespace firetower::query {
namespace {

constexpr std::string_view kProfilePath = "/api/v1/profile";
constexpr std::string_view kDiffPath = "/api/v1/diff";

// Probes and scrapers may add parameters of their own; these three answer all the same.
net::HttpResponse Live(const net::HttpRequest&) {
  net::HttpResponse response;
  response.body = "ok\n";
  return response;
}

auto PageOf(std::string_view trace_url) {
  return [trace_url](const net::HttpRequest& request) { return ServePage(request, trace_url); };
}

}  // namespace

Api::Api(const ApiParts& parts)
    : parts_(parts),
      router_({
          {"/", "what is hot, for a browser; else this list",
           [this](const net::HttpRequest& r) {
             return WantsPage(r) ? ServeHome(r, parts_.trace_url) : Index();
           }},
          {"/explore", "for a browser: flame graphs, over time", PageOf(parts.trace_url)},
          {"/diff", "for a browser: two times or selections compared", PageOf(parts.trace_url)},
          {"/heat", "for a browser: samples within seconds", PageOf(parts.trace_url)},
          {"/file", "for a browser: a profile that somebody has", PageOf(parts.trace_url)},
          {"/agents", "for a browser: which nodes report", PageOf(parts.trace_url)},
          {"/policies", "for a browser: policies, and what triggers captured",
           PageOf(parts.trace_url)},
          {"/assets/app.js", "what the pages run", ServeAppScript},
          {"/assets/app.css", "how the pages look", ServeAppStyle},
          {"/livez", "200 while the process answers", Live},
          {"/readyz", "200 once it does its work, else 503 and the reasons",
           [this](const net::HttpRequest& r) { return Ready(r); }},
          {"/metrics", "for Prometheus", [this](const net::HttpRequest& r) { return Metrics(r); }},
          {kProfilePath, "gzip'd pprof, for `go tool pprof`: type q from to seconds, or id",
           [this](const net::HttpRequest& r) { return ServeProfile(r, parts_); }},
          {"/api/v1/profiles", "profiles one by one, with their ids: limit type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeProfiles(r, parts_); }},
          {kDiffPath,
           "the difference to another time or selector: base base-q base-from base-to normalize",
           [this](const net::HttpRequest& r) { return ServeDiff(r, parts_); }},
          {"/api/v1/flame",
           "a flame graph, as JSON: format max-nodes names sort exact offsets focus ignore hide "
           "show show-from tagfocus tagignore type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeFlame(r, parts_); }},
          {"/api/v1/top", "hottest containers or functions: by k type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeTop(r, parts_); }},
          {"/api/v1/diagnose", "whose code the time is spent in, and why: type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeDiagnose(r, parts_); }},
          {"/api/v1/heat",
           "samples by the moment they were taken: by rows k step paint type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeHeat(r, parts_); }},
          {kFilePath, "POST: a profile of any format as a flame graph: name base-bytes max-nodes",
           [this](const net::HttpRequest& r) { return File(r); },
           /*takes_post=*/true},
          {"/api/v1/series", "label sets with totals: by step type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeSeries(r, parts_); }},
          {"/api/v1/labels", "label names, or values of one: name type q from to seconds",
           [this](const net::HttpRequest& r) { return ServeLabels(r, parts_); }},
          {"/api/v1/rollouts", "which Deployments changed to other pods, and when: type q from to",
           [this](const net::HttpRequest& r) { return ServeRollouts(r, parts_); }},
          {"/api/v1/types", "profile types: q from to seconds",
           [this](const net::HttpRequest& r) { return ServeTypes(r, parts_); }},
          {"/api/v1/policies", "the policies that are known here, and how they are: q",
           [this](const net::HttpRequest& r) { return ServePolicies(r, parts_); }},
          {"/api/v1/doctor", "what works here and what does not, with fixes",
           [this](const net::HttpRequest& r) { return Doctor(r); }},
      }),
      strangers_({.running = std::min(parts.admission.strangers, 1),
                  .waiting = std::max(parts.admission.strangers - 1, 0),
                  .longest_wait_ns = parts.admission.longest_wait_ns}),
      admission_(parts.admission, parts.on_idle),
      scrapes_({.running = kScrapes, .waiting = 0}),
      files_({.running = 1, .waiting = 1}),
      mcp_(McpVersion()) {}

bool Api::IsQuestion(std::string_view path) {
  return path.starts_with("/api/") || pyroscope::IsServicePath(path);
}

std::optional<net::HttpResponse> Api::Admit(const net::HttpRequest& request) const {
  const Result<bool> familiar = parts_.authorizer.Recall(request);
  if (!familiar) return Unidentified(request, familiar.error());
  if (*familiar) return std::nullopt;
  const std::optional<net::Admission::Pass> asking = strangers_.Enter(request.gone);
  if (!asking) return Busy(request);
  const Status known = parts_.authorizer.Identify(request);
  if (!known) return Unidentified(request, known.error());
  return std::nullopt;
}

// A message takes no place of questions: each question that it asks takes one.
net::HttpResponse Api::Mcp(const net::HttpRequest& request) const {
  if (std::optional<net::HttpResponse> refusal = Admit(request)) return *std::move(refusal);
  const Status known = parts_.authorizer.Identify(request);
  if (!known) return Unidentified(request, known.error());
  return ServeMcp(request, mcp_, [this](const net::HttpRequest& asked) { return Serve(asked); });
}

net::HttpResponse Api::Serve(const net::HttpRequest& request) const {
  if (request.path == kMcpPath) return Mcp(request);
  if (!IsQuestion(request.path)) return router_.Serve(request);
  if (std::optional<net::HttpResponse> refusal = Admit(request)) return *std::move(refusal);
  const std::optional<net::Admission::Pass> pass = admission_.Enter(request.gone);
  if (!pass) return Busy(request);
  // Identifies the caller again, because the earlier answer may be outdated.
  const Status known = parts_.authorizer.Identify(request);
  if (!known) return Unidentified(request, known.error());
  net::HttpResponse response = pyroscope::IsServicePath(request.path)
                                   ? pyroscope::ServeService(request, parts_)
                                   : router_.Serve(request);
  CountCoarse(response);
  return response;
}

void Api::CountCoarse(const net::HttpResponse& response) const {
  const auto header =
      std::ranges::find(response.headers, kMaxHiddenHeader, [](const auto& h) { return h.first; });
  if (header == response.headers.end()) return;
  double share = 0;
  std::from_chars(header->second.data(), header->second.data() + header->second.size(), share);
  const auto millionths = static_cast<uint32_t>(std::lround(share * 1e6));
  ++coarse_answers_;
  uint32_t most = coarse_millionths_;
  while (most < millionths && !coarse_millionths_.compare_exchange_weak(most, millionths)) {
  }
}

net::HttpResponse Api::Refuse(const net::HttpRequest& request, int status,
                              const Error& error) const {
  if (pyroscope::IsServicePath(request.path)) {
    net::HttpResponse response = pyroscope::ConnectError(status, error.message());
    response.route = pyroscope::ServiceRoute(request.path);
    return response;
  }
  const bool is_pprof = request.path == kProfilePath || request.path == kDiffPath;
  net::HttpResponse response =
      is_pprof ? PprofError(status, error) : JsonError(status, error.message());
  response.route = router_.RouteOf(request.path);
  return response;
}

net::HttpResponse Api::Busy(const net::HttpRequest& request) const {
  net::HttpResponse busy = Refuse(
      request, 503, Error(ErrorCode::kExhausted, "too many concurrent queries; retry in 2 s"));
  busy.headers.emplace_back("Retry-After", "2");
  return busy;
}

net::HttpResponse Api::Unidentified(const net::HttpRequest& request, const Error& error) const {
  const bool is_unknown = error.code() == ErrorCode::kPermission;
  net::HttpResponse response = Refuse(request, is_unknown ? 401 : StatusOf(error), error);
  if (is_unknown) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"firetower\"");
  return response;
}

net::HttpResponse Api::Index() const {
  net::HttpResponse response;
  response.body = fmt::format(
      "Firetower: continuous profiles of every container.\n\n{}\n"
      "POST /querier.v1.QuerierService/METHOD is for Grafana's Pyroscope data source, and POST "
      "/mcp "
      "for assistants.\n"
      "Times: RFC 3339, epoch, now-1h, 15m. Selectors: {{namespace=\"shop\",pod=~\"web.*\"}}.\n",
      router_.Index());
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

net::HttpResponse Api::Ready(const net::HttpRequest&) const {
  net::HttpResponse response;
  std::vector<std::string> reasons = parts_.ready.NotReadyReasons();
  response.status = reasons.empty() ? 200 : 503;
  if (reasons.empty()) response.body = "ok\n";
  for (const std::string& reason : reasons) response.body += "not ready: " + reason + "\n";
  return response;
}

net::HttpResponse Api::Metrics(const net::HttpRequest& request) const {
  if (parts_.authorize_metrics) {
    if (std::optional<net::HttpResponse> refusal = Admit(request)) return *std::move(refusal);
    const std::optional<net::Admission::Pass> pass = scrapes_.Enter(request.gone);
    if (!pass) return Busy(request);
    const Status allowed = parts_.authorizer.ReadMetrics(request);
    if (!allowed) {
      // The token may have become old meanwhile, which Recall knows then.
      const bool is_known = parts_.authorizer.Recall(request).has_value();
      return is_known ? Refuse(request, StatusOf(allowed.error()), allowed.error())
                      : Unidentified(request, allowed.error());
    }
  }
  MetricsSource::Page page = parts_.metrics.Render(request.accept);
  net::HttpResponse response;
  response.content_type = std::move(page.content_type);
  response.body = std::move(page.body);
  return response;
}

// One at a time: unpacked it takes a multiple of what other questions may.
net::HttpResponse Api::File(const net::HttpRequest& request) const {
  if (request.method != "POST") return ServeFile(request, parts_);
  const std::optional<net::Admission::Pass> pass = files_.Enter(request.gone);
  return pass ? ServeFile(request, parts_) : Busy(request);
}

net::HttpResponse Api::Doctor(const net::HttpRequest& request) const {
  Result<Params> params = Params::Read(request, {});
  if (!params) return ErrorResponse(params.error());
  DoctorReply reply;
  reply.checks = parts_.doctor.Checks();
  if (const uint64_t coarse = coarse_answers_; coarse > 0) {
    reply.checks.push_back(
        {.name = "answers",
         .status = CheckStatus::kOk,
         .message =
             fmt::format("{} answers since the start were too large to be exact: parts of up to "
                         "{:.4f}% of the total may be shown as 'other' there, totals are exact",
                         coarse, coarse_millionths_ / 1e4),
         .fix = ""});
  }
  for (const Check& check : reply.checks) reply.status = std::max(reply.status, check.status);
  net::HttpResponse response;
  response.content_type = "application/json";
  response.body = ToJson(reply);
  return response;
}

}  // namespace firetower::query
