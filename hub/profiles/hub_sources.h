// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hub/profiles/catalog_controller.h"
#include "hub/profiles/own_rights.h"
#include "hub/profiles/retention_controller.h"
#include "k8s/watch/watch_set.h"
#include "query/sources.h"
#include "service/metrics/exposition.h"
#include "store/store.h"

namespace firetower::hub {

// The hub's sources for the HTTP API, called on HTTP threads. All references must outlive the
// server.
class HubSources : public query::LiveSource,
                   public query::MetricsSource,
                   public query::DoctorSource,
                   public query::ReadySource,
                   public query::PolicySource {
 public:
  struct Parts {
    const store::ObjectStore& store;
    const std::string& cluster;  // its key component
    const CatalogController& catalogs;
    const RetentionController& retention;
    const OwnRights& rights;
    std::function<std::string(service::ExpositionFormat)> metrics;
    std::function<std::vector<k8s::WatchState>()> watches;
    std::function<std::vector<query::PolicyState>()> policies;
  };
  explicit HubSources(Parts parts) : parts_(std::move(parts)) {}

  // Returns none: the agents have the open windows, and no path leads there.
  std::vector<store::OpenProfile> OpenProfiles() const override { return {}; }
  Page Render(std::string_view accept) const override;
  std::vector<query::Check> Checks() const override;
  std::vector<std::string> NotReadyReasons() const override;
  std::vector<query::PolicyState> Policies() const override { return parts_.policies(); }

 private:
  const Parts parts_;
};

}  // namespace firetower::hub
