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

// Keeps catalogs, round by round, and tells how it went. Belongs to the `catalogs` thread, but for
// figures(). A round that fails, since the store is away, is made up for by a later one; questions
// list bundles meanwhile.
class CatalogController {
 public:
  static constexpr int64_t kEveryNs = 60 * kNsPerSecond;
  // Two rounds and some: from then on it is told that answers are behind.
  static constexpr int64_t kBehindSeconds = 150;

  // Borrows all references. `cluster`: its key component; catalogs of others
  // stay.
  CatalogController(store::ObjectStore& store, store::RecentRows& recent, const Clock& clock,
                    const std::string& cluster);

  // One round; who leads also writes. What fails once `stop` is requested is no failure.
  void Look(bool leads, const std::stop_token& stop = {});
  // How long ago the last round that went well began: what came since then may be in no answer.
  // Rises while a round takes long and while rounds fail. Any thread.
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
