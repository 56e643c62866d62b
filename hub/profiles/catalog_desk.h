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
};

// Keeps catalogs, round by round, and tells how it went. Belongs to the `catalogs` thread, but for
// figures(). A round that fails, since the store is away, is made up for by a later one; questions
// list bundles meanwhile.
class CatalogDesk {
 public:
  static constexpr int64_t kEveryNs = 60 * kNsPerSecond;

  // What is referred to outlives this. `cluster`: its key component; others' catalogs are theirs.
  CatalogDesk(store::ObjectStore& store, store::RecentRows& recent, const Clock& clock,
              const std::string& cluster);

  // One round; who leads also writes. What fails once `stop` is requested is no failure.
  void Look(bool leads, const std::stop_token& stop = {});
  // Of the last round that ended.
  std::shared_ptr<const CatalogFigures> figures() const { return figures_.Get(); }

 private:
  store::CatalogKeeper keeper_;
  CatalogFigures now_;
  SnapshotCell<CatalogFigures> figures_;
};

}  // namespace firetower::hub
