// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "daemon/export/exporter.h"
#include "daemon/health/doctor.h"
#include "daemon/metrics/metrics_registry.h"
#include "query/sources.h"

namespace firetower::daemon {

// Answers the HTTP API's questions about the daemon. Called on HTTP threads. All references must
// outlive the server.
class HttpSources : public query::LiveSource,
                    public query::MetricsSource,
                    public query::DoctorSource,
                    public query::ReadySource,
                    public query::PolicySource {
 public:
  using TellPolicies = std::function<std::vector<query::PolicyState>()>;

  // `awaited` returns the reasons why the daemon is not ready, `policies` those that it knows, both
  // on any thread; if unset, there are none.
  HttpSources(Exporter& exporter, const MetricsRegistry& registry, DoctorInput doctor,
              std::function<std::vector<std::string>()> awaited = nullptr,
              TellPolicies policies = nullptr)
      : exporter_(exporter),
        registry_(registry),
        doctor_(std::move(doctor)),
        awaited_(std::move(awaited)),
        policies_(std::move(policies)) {}

  void SetReady(bool ready) { ready_.store(ready, std::memory_order_release); }

  std::vector<store::OpenProfile> OpenProfiles() const override;
  Page Render(std::string_view accept) const override;
  std::vector<query::Check> Checks() const override;
  std::vector<std::string> NotReadyReasons() const override;
  std::vector<query::PolicyState> Policies() const override {
    return policies_ ? policies_() : std::vector<query::PolicyState>();
  }

 private:
  Exporter& exporter_;
  const MetricsRegistry& registry_;
  DoctorInput doctor_;
  std::function<std::vector<std::string>()> awaited_;
  TellPolicies policies_;
  std::atomic<bool> ready_{false};
};

}  // namespace firetower::daemon
