// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/config/config.h"
#include "daemon/control/http_sources.h"
#include "k8s/client/api_client.h"
#include "net/server/http_server.h"
#include "query/api.h"
#include "store/access/served_store.h"

namespace firetower::daemon {

// The daemon's HTTP server and the API that it serves. SetReady sets the answer of /readyz.
class HttpSide {
 public:
  // All references must outlive this.
  struct Parts {
    const Config& config;
    const store::ServedStore& store;
    Exporter& exporter;
    MetricsRegistry& registry;
    DoctorInput doctor;
    // Returns what the daemon still waits for, on any thread; unset: nothing.
    std::function<std::vector<std::string>()> awaited;
    HttpSources::TellPolicies policies;  // any thread
    // Asks the API server about callers' rights; unset: everybody may read everything.
    std::unique_ptr<k8s::ApiClient> reviews;
    // Holds a token with which everything may be read; empty: none.
    std::string own_token_file;
  };
  // Fails as net::HttpServer::Start does.
  static Result<std::unique_ptr<HttpSide>> Start(Parts parts);

  void SetReady(bool ready) { sources_.SetReady(ready); }
  // Callers that wait for a review get no answer any more.
  void Stop();
  // Returns the address it listens at.
  const std::string& address() const { return server_->address(); }

 private:
  explicit HttpSide(Parts parts);

  HttpSources sources_;
  const std::unique_ptr<k8s::ApiClient> reviews_;
  const std::unique_ptr<const query::Authorizer> authorizer_;
  query::Api api_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace firetower::daemon
