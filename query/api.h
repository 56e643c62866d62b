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
#include "query/mcp/server.h"
#include "query/sources.h"
#include "store/query.h"

namespace firetower::query {

// The parts that the API uses. All references must outlive the Api.
struct ApiParts {
  store::ProfileSource store;  // of a store::ServedStore: its refusals are not the caller's
  const LiveSource& live;
  const MetricsSource& metrics;
  const DoctorSource& doctor;
  const ReadySource& ready;
  const Authorizer& authorizer;
  const PolicySource* policies = nullptr;  // null: this server knows none
  const Clock& clock = Clock::System();
  store::QueryLimits limits = {};  // of each answer
  net::AdmissionOptions admission = {};
  bool authorize_metrics = false;        // by the authorizer; else everybody may read them
  std::string_view signature_file = {};  // read for each diagnosis; must outlive this
  std::string_view trace_url = {};       // a template for the pages; must outlive this
  // Files that people open, in memory for one answer. 0: none are taken.
  size_t max_file_bytes = 0;
  std::function<void()> on_idle = nullptr;  // when the last question that was answered ends
};

// Serves the paths of docs/reference/http-api.md. Any thread may call Serve(). `admission` limits
// the number of concurrent queries; further ones wait in their thread.
//
//   Api api({store, live, metrics, doctor, ready, authorizer});
//   options.worker_threads = api.WorkerThreads();
//   auto server = HttpServer::Start(options, [&](const HttpRequest& r) { return api.Serve(r); });
class Api {
 public:
  explicit Api(const ApiParts& parts);
  // Not copyable, because its routes point back at it.
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  // Tells whether a path answers with profile data, so that authorization and admission apply.
  static bool IsQuestion(std::string_view path);
  // Answers a request. Queries of unknown callers are refused and do not take a place of other
  // queries.
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
  net::HttpResponse Mcp(const net::HttpRequest& request) const;
  // Formats an error for the clients of the path.
  net::HttpResponse Refuse(const net::HttpRequest& request, int status, const Error& error) const;
  net::HttpResponse Busy(const net::HttpRequest& request) const;
  net::HttpResponse Unidentified(const net::HttpRequest& request, const Error& error) const;
  net::HttpResponse Ready(const net::HttpRequest& request) const;
  net::HttpResponse Metrics(const net::HttpRequest& request) const;
  net::HttpResponse File(const net::HttpRequest& request) const;
  net::HttpResponse Doctor(const net::HttpRequest& request) const;
  // Counts a coarse answer.
  void CountCoarse(const net::HttpResponse& response) const;

  const ApiParts parts_;
  const Router router_;
  mutable net::Admission strangers_;
  mutable net::Admission admission_;
  mutable net::Admission scrapes_;
  mutable net::Admission files_;
  mutable McpServer mcp_;
  // Answers that were too wide to be held whole, for the doctor, and the most that one of them
  // hides, in millionths of the whole.
  mutable std::atomic<uint64_t> coarse_answers_ = 0;
  mutable std::atomic<uint32_t> coarse_millionths_ = 0;
};

}  // namespace firetower::query
