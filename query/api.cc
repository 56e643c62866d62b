// SPDX-License-Identifier: Apache-2.0
#include "query/api.h"

#include <fmt/core.h>

#include <algorithm>

#include "query/flame/flame_endpoint.h"
#include "query/flame/page.h"
#include "query/listings.h"
#include "query/params.h"
#include "query/profile_endpoint.h"
#include "query/question.h"
#include "query/wire.h"

namespace firetower::query {
namespace {

// Probes and scrapers may add parameters of their own; these three answer all the same.
HttpResponse Live(const HttpRequest&) {
  HttpResponse response;
  response.body = "ok\n";
  return response;
}

}  // namespace

Api::Api(const ApiParts& parts)
    : parts_(parts),
      router_({
          {"/", "flame graphs, for a browser; else this list",
           [this](const HttpRequest& r) { return WantsPage(r) ? ServePage() : Index(); }},
          {"/livez", "200 while the process answers", Live},
          {"/readyz", "200 once samples come in, else 503 and the reasons",
           [this](const HttpRequest& r) { return Ready(r); }},
          {"/metrics", "hotspots and the daemon's own health, for Prometheus",
           [this](const HttpRequest& r) { return Metrics(r); }},
          {"/api/v1/profile", "gzip'd pprof, for `go tool pprof`: type q from to seconds",
           [this](const HttpRequest& r) { return ServeProfile(r, parts_); }},
          {"/api/v1/flame",
           "a flame graph, as JSON: format max-nodes names sort type q from to seconds",
           [this](const HttpRequest& r) { return ServeFlame(r, parts_); }},
          {"/api/v1/top", "hottest containers or functions: by k type q from to seconds",
           [this](const HttpRequest& r) { return ServeTop(r, parts_); }},
          {"/api/v1/series", "label sets with totals: by step type q from to seconds",
           [this](const HttpRequest& r) { return ServeSeries(r, parts_); }},
          {"/api/v1/labels", "label names, or values of one: name type q from to seconds",
           [this](const HttpRequest& r) { return ServeLabels(r, parts_); }},
          {"/api/v1/types", "profile types: q from to seconds",
           [this](const HttpRequest& r) { return ServeTypes(r, parts_); }},
          {"/api/v1/doctor", "what this node can and cannot do, with fixes",
           [this](const HttpRequest& r) { return Doctor(r); }},
      }) {}

HttpResponse Api::Index() const {
  HttpResponse response;
  response.body = fmt::format(
      "Firetower: continuous profiles of every container on this node.\n\n{}\n"
      "Times: RFC 3339, epoch, now-1h, 15m. Selectors: {{namespace=\"shop\",pod=~\"web.*\"}}.\n",
      router_.Index());
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

HttpResponse Api::Ready(const HttpRequest&) const {
  HttpResponse response;
  std::vector<std::string> reasons = parts_.ready.NotReadyReasons();
  response.status = reasons.empty() ? 200 : 503;
  if (reasons.empty()) response.body = "ok\n";
  for (const std::string& reason : reasons) response.body += "not ready: " + reason + "\n";
  return response;
}

HttpResponse Api::Metrics(const HttpRequest& request) const {
  MetricsSource::Page page = parts_.metrics.Render(request.accept);
  HttpResponse response;
  response.content_type = std::move(page.content_type);
  response.body = std::move(page.body);
  return response;
}

HttpResponse Api::Doctor(const HttpRequest& request) const {
  Result<Params> params = Params::Read(request, {});
  if (!params) return ErrorResponse(params.error());
  DoctorReply reply;
  reply.checks = parts_.doctor.Checks();
  for (const Check& check : reply.checks) reply.status = std::max(reply.status, check.status);
  HttpResponse response;
  response.content_type = "application/json";
  response.body = ToJson(reply);
  return response;
}

}  // namespace firetower::query
