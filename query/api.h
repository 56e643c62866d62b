// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "query/authorizer.h"
#include "query/http/message.h"
#include "query/http/router.h"
#include "query/sources.h"
#include "store/query.h"

namespace firetower::query {

// Everything is borrowed and outlives the Api.
struct ApiParts {
  store::ProfileSource store;
  const LiveSource& live;
  const MetricsSource& metrics;
  const DoctorSource& doctor;
  const ReadySource& ready;
  const Authorizer& authorizer;
  const Clock& clock = Clock::System();
  store::QueryLimits limits = {};  // of each answer
};

// The paths of docs/reference/http-api.md. Immutable, so any thread may call Serve().
//
//   Api api({store, live, metrics, doctor, ready, authorizer});
//   auto server = HttpServer::Start(options, [&](const HttpRequest& r) { return api.Serve(r); });
class Api {
 public:
  explicit Api(const ApiParts& parts);
  // Its routes point back at it.
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  // Below /api/ nothing is answered to somebody unknown.
  HttpResponse Serve(const HttpRequest& request) const;
  // Instead of Serve: an error in the form that the path's clients read.
  HttpResponse Refuse(const HttpRequest& request, int status, const Error& error) const;

 private:
  HttpResponse Index() const;
  HttpResponse Unidentified(const HttpRequest& request, const Error& error) const;
  HttpResponse Ready(const HttpRequest& request) const;
  HttpResponse Metrics(const HttpRequest& request) const;
  HttpResponse Doctor(const HttpRequest& request) const;

  ApiParts parts_;
  Router router_;
};

}  // namespace firetower::query
