// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "hub/config.h"
#include "k8s/client/config.h"

namespace firetower::hub {

// The whole hub: watches, election, status, HTTP, and with a store the work for profiles
// (hub/profiles/profile_server.h).
//
//   watch threads ──► snapshots ──► status thread ──► status of policies, Events
//                                        ▲ leads?
//                     lease thread ──────┘            http: /metrics /livez /readyz, queries
class Hub {
 public:
  // `config.identity` and `config.lease_namespace` must be set.
  static Result<std::unique_ptr<Hub>> Start(const Config& config, k8s::ClientConfig access,
                                            const Clock& clock);
  ~Hub();

  // Ends every thread and releases the Lease, so that another hub leads within seconds.
  void Stop();
  std::string url() const;

 private:
  class Impl;
  explicit Hub(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace firetower::hub
