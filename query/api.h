// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

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
  bool authorize_metrics = false;           // by the authorizer; else everybody may read them
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
  // Questions of somebody unknown are not answered, and take no place of those that are. Nor are
  // metrics, where they take a right.
  net::HttpResponse Serve(const net::HttpRequest& request) const;
  // That a server needs which is to answer probes and metrics while questions wait.
  int WorkerThreads() const {
    return parts_.admission.WorkerThreads() + (parts_.authorize_metrics ? kScrapes : 0);
  }

 private:
  // Scrapes whose right is asked for at a time: they wait for an API server, in threads of their
  // own. Two Prometheus servers are common.
  static constexpr int kScrapes = 2;

  // Lets in a caller who is known, or becomes so; else returns the refusal.
  std::optional<net::HttpResponse> Admit(const net::HttpRequest& request) const;
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
  mutable net::Admission scrapes_;
  // Answers that were too wide to be held whole, for the doctor, and the most that one of them
  // hides, in millionths of the whole.
  mutable std::atomic<uint64_t> coarse_answers_ = 0;
  mutable std::atomic<uint32_t> coarse_millionths_ = 0;
};

}  // namespace firetower::query
