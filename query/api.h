// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "net/message.h"
#include "net/server/admission.h"
#include "query/authorizer.h"
#include "query/http/router.h"
#include "query/sources.h"
#include "store/query.h"

namespace firetower::query {

// Everything that is referred to is borrowed and outlives the Api.
struct ApiParts {
  store::ProfileSource store;  // of a store::ServedStore: its refusals are not the caller's
  const LiveSource& live;
  const MetricsSource& metrics;
  const DoctorSource& doctor;
  const ReadySource& ready;
  const Authorizer& authorizer;
  const Clock& clock = Clock::System();
  store::QueryLimits limits = {};  // of each answer
  net::AdmissionOptions admission = {};
  std::function<void()> on_idle = nullptr;  // when the last question that was answered ends
};

// The paths of docs/reference/http-api.md. Any thread may call Serve(). Of questions so many are
// answered at a time as `admission` says; others wait for their turn, in their thread.
//
//   Api api({store, live, metrics, doctor, ready, authorizer});
//   options.worker_threads = api.WorkerThreads();
//   auto server = HttpServer::Start(options, [&](const HttpRequest& r) { return api.Serve(r); });
class Api {
 public:
  explicit Api(const ApiParts& parts);
  // Its routes point back at it.
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  // Whether a path's answers are of profiles: then it matters who asks, and what it takes.
  static bool IsQuestion(std::string_view path);
  // Questions of somebody unknown are not answered, and take no place of those that are.
  net::HttpResponse Serve(const net::HttpRequest& request) const;
  // That a server needs which is to answer probes and metrics while questions wait.
  int WorkerThreads() const { return parts_.admission.WorkerThreads(); }

 private:
  net::HttpResponse Index() const;
  // An error in the form that the path's clients read.
  net::HttpResponse Refuse(const net::HttpRequest& request, int status, const Error& error) const;
  net::HttpResponse Busy(const net::HttpRequest& request) const;
  net::HttpResponse Unidentified(const net::HttpRequest& request, const Error& error) const;
  net::HttpResponse Ready(const net::HttpRequest& request) const;
  net::HttpResponse Metrics(const net::HttpRequest& request) const;
  net::HttpResponse Doctor(const net::HttpRequest& request) const;
  // Counts an answer that was too wide to be held whole.
  void CountCoarse(const net::HttpResponse& response) const;

  const ApiParts parts_;
  const Router router_;
  mutable net::Admission strangers_;
  mutable net::Admission admission_;
  // Answers that were too wide to be held whole, for the doctor, and the most that one of them
  // hides, in millionths of the whole.
  mutable std::atomic<uint64_t> coarse_answers_ = 0;
  mutable std::atomic<uint32_t> coarse_millionths_ = 0;
};

}  // namespace firetower::query
