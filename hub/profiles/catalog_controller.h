// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/snapshot.h"
#include "store/catalog/keeper/catalog_keeper.h"
#include "store/catalog/recent_rows.h"
#include "store/store.h"

namespace firetower::hub {

struct CatalogFigures {
  store::KeeperFigures keeper;
  uint64_t rounds = 0;  // that went well
  uint64_t failed_rounds = 0;
  std::string error;  // of the last round; empty: it went well
  // When the last round that went well began, or, before there was one, this; monotonic.
  int64_t looked_ns = 0;
};

// Runs catalog rounds and keeps their results. Belongs to the `catalogs` thread, except figures().
// If a round fails because the store is away, a later round makes up for it; until then queries
// list bundles.
class CatalogController {
 public:
  static constexpr int64_t kEveryNs = 60 * kNsPerSecond;
  // A little more than two rounds: beyond it, answers count as outdated.
  static constexpr int64_t kBehindSeconds = 150;

  // Borrows all references. `cluster` is a component of keys; catalogs of other clusters stay.
  CatalogController(store::ObjectStore& store, store::RecentRows& recent, const Clock& clock,
                    const std::string& cluster);

  // Runs one round; only the leader also writes. Failures after `stop` was requested do not count.
  void Look(bool leads, const std::stop_token& stop = {});
  // Returns the age of the last successful round: newer profiles may be missing in answers. It
  // grows while a round takes long and while rounds fail. Any thread.
  int64_t LagSeconds() const {
    return (clock_.MonotonicNs() - figures()->looked_ns) / kNsPerSecond;
  }
  // Returns the figures of the last finished round.
  std::shared_ptr<const CatalogFigures> figures() const { return figures_.Get(); }

 private:
  void WarnOfLongRounds(int64_t took_ns);

  const Clock& clock_;
  store::CatalogKeeper keeper_;
  CatalogFigures now_;
  bool was_long_ = false;  // of the last round
  SnapshotCell<CatalogFigures> figures_;
};

}  // namespace firetower::hub
