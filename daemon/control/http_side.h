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

// The daemon's HTTP server and the API that it serves. Readiness is told by SetReady.
class HttpSide {
 public:
  // All are borrowed, and outlive this.
  struct Parts {
    const Config& config;
    const store::ServedStore& store;
    Exporter& exporter;
    MetricsRegistry& registry;
    DoctorInput doctor;
    // Says what the daemon still waits for, from any thread; unset: nothing.
    std::function<std::vector<std::string>()> awaited;
    // Asks the API server about callers' rights; unset: everybody may read everything.
    std::unique_ptr<k8s::ApiClient> reviews;
    // Holds a token with which everything may be read; empty: none.
    std::string own_token_file;
  };
  // Errors as net::HttpServer's.
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
