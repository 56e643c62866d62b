// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hub/profiles/catalog_controller.h"
#include "hub/profiles/own_rights.h"
#include "hub/profiles/retention_controller.h"
#include "hub/rollouts/rollout_watch.h"
#include "service/metrics/exposition.h"

namespace firetower::hub {

// Figures about the hub's work for profiles since its start, and about the memory it takes.
struct ProfileFigures {
  CatalogFigures catalogs;
  RetentionFigures retention;
  RolloutFigures rollouts;
  std::vector<OwnRight> rights;
  size_t recent_rows = 0;
  size_t recent_bytes = 0;
  int64_t store_skew_ns = 0;        // ObjectStore::ClockSkewNs
  int64_t catalog_lag_seconds = 0;  // CatalogController::LagSeconds
};

void AddProfileMetrics(const ProfileFigures& figures, service::ExpositionWriter& writer);

}  // namespace firetower::hub
