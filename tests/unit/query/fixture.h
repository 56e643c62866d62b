// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "net/server/http_server.h"
#include "query/api.h"
#include "store/access/served_store.h"
#include "store/dir_store.h"

namespace firetower::query {

// The answering side with known content. At 100 Hz, so a sample is 10 ms, each of the minutes
// 09:57, 09:58 (stored) and 09:59 (open) of 2026-07-01 holds
//   shop/web-0/web        main;Serve;Parse 60  main;Serve;Encode 30  main;Idle 10
//   shop/web-0/sidecar    main;Log 20
//   -/-/sshd.service      main;Select 5
// and the server's clock stands at 10:00:00. So of 375 samples, 3.75 s, web has 80 %, sidecar 16 %,
// sshd.service 4 %; web used 3 s of 180 s, 0.0167 cores; Parse is 180 of 375, 48 %, of all.
class Fixture {
 public:
  static constexpr int64_t kNowNs = 1782900000 * kNsPerSecond;
  static constexpr size_t kFileBytes = size_t{8} << 20;  // that people may open

  // `asked`: which store questions go to, instead of the one with that content.
  // `authorizer`: who is asked, instead of the answers below.
  explicit Fixture(const store::QueryLimits& limits = {}, const store::ObjectStore* asked = nullptr,
                   const net::AdmissionOptions& admission = {},
                   const Authorizer* authorizer = nullptr);
  ~Fixture();
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  Api& api() { return *api_; }
  store::ObjectStore& store() { return *store_; }
  // Starts a server on a port of its own; stopped with the fixture.
  std::string Serve();
  void StopServing() { server_.reset(); }

  // The policies shop/checkout, which is in force, and the cluster's nodes, which is degraded.
  static std::vector<PolicyState> TwoPolicies();
  // The answers of the sources. A server may be asking for them at the same time.
  struct Answers {
    std::vector<Check> checks;
    std::vector<std::string> not_ready;
    std::vector<PolicyState> policies = TwoPolicies();
    Status unknown;              // what the authorizer says of who asks, when an error
    std::string token;           // without which nobody is known, when not empty
    std::string powerless;       // one that is known, and may read nothing
    Status refusal;              // what it says of what they ask
    std::string only_namespace;  // what the authorizer narrows to, when not empty
  };
  void Change(const std::function<void(Answers&)>& change);

 private:
  class Sources;
  void FillStore();
  Answers Current() const;

  mutable std::mutex mutex_;
  Answers answers_;
  std::string folder_;
  FakeClock clock_{0, kNowNs};
  std::unique_ptr<store::DirStore> store_;
  std::unique_ptr<store::ServedStore> served_;
  std::unique_ptr<Sources> sources_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace firetower::query
