// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/catalog/catalog_listing.h"
#include "store/catalog/keeper/interval_keeper.h"
#include "store/catalog/recent_rows.h"
#include "store/store.h"
#include "store/walk.h"

namespace firetower::store {

struct CatalogKeeperOptions {
  // The time after an interval's end, and after its last new rows, until its catalog is written.
  int64_t close_s = 300;
  int64_t close_hour_s = 600;  // after an hour's end, until its catalogs become one
  // What begins until the next look, and if it is late, is looked at too: it would be listed for a
  // question, while the end of the interval before is known only as of the last look.
  int64_t ahead_s = 120;
  int64_t trust_look_s = 150;        // how long a look is trusted when none after it goes well
  int64_t keep_replaced_s = 3600;    // for questions under way, and readers with an old listing
  int64_t late_hours = 24;           // how far back late bundles are looked for…
  int64_t look_back_every_s = 3600;  // …and how often
  int64_t old_every_s = 86'400;      // how often all before that is looked through for catalogs
  // How often an hour of that is listed for late bundles: of 5,000 nodes 300 requests, and two
  // weeks take 28 hours.
  int64_t old_late_every_s = 300;
  // A component of keys. Unset: catalogs of all clusters in the store are kept.
  std::optional<std::string> cluster = {};
};

// Keeps the rows of new bundles in memory and writes catalogs of them (docs/adr/0014-catalogs.md):
//
//   bundles ──► recent rows ──► catalogs of 5 minutes, of roll-ups ──► catalogs of hours
//
// Holds nothing that cannot be read from the store again: it may be killed at any point, and two at
// once do no harm. Belongs to one thread.
class CatalogKeeper {
 public:
  // Borrows all references, which must outlive this.
  CatalogKeeper(ObjectStore& store, RecentRows& recent, const Clock& clock,
                const CatalogKeeperOptions& options = {})
      : store_(store),
        recent_(recent),
        clock_(clock),
        options_(options),
        intervals_(store, recent, figures_) {}

  // Runs one round, due once a minute: reads new bundles, and writes and deletes catalogs if it
  // `leads`. The next round retries failures. Returns the first error, after the other classes and
  // clusters were processed.
  Status Look(bool leads);
  // Makes missing catalogs of the hours that begin in [from_s, to_s) and are over.
  Status Rebuild(int64_t from_s, int64_t to_s);

  const KeeperFigures& figures() const { return figures_; }

 private:
  using Cluster = std::pair<RetentionClass, std::string>;
  // Identifies an hour. The map below has the monotonic time since which the hour's own catalog
  // exists.
  using Hour = std::tuple<RetentionClass, std::string, int64_t>;
  struct LookBack {
    int64_t next = 1;  // so many hours back
    int64_t begun_ns = 0;
  };
  // A pass over the hours of [next_s, end_s), from the store's first bundle on.
  struct OldPass {
    int64_t next_s = 0;
    int64_t end_s = 0;
    int64_t due_ns = 0;     // the next one
    bool is_first = false;  // since this process began
  };

  // A pass over the same hours in reverse, because most late bundles are not much later than a day,
  // and a new leader begins there.
  struct LatePass {
    int64_t next_s = 0;
    int64_t first_s = 1;  // of the store's first bundle; past next_s: a new pass is due
    int64_t due_ns = 0;   // the next hour
  };

  // The rows that arrived for an interval until the last round.
  struct Arrival {
    size_t rows = 0;
    std::optional<int64_t> last_ns = {};  // when more came than at the look before; monotonic
  };

  Status LookAt(const StoredCluster& at, bool leads);
  void DistrustUnwatchedRows();
  bool IsDue(const CatalogInterval& interval);
  // Reads the intervals of one kind that have no catalog yet, and writes the due catalogs.
  Status UpdateOpenIntervals(const StoredCluster& at, const CatalogListing& listing,
                             const std::vector<CatalogInterval>& open, bool leads);
  bool HasAny(const StoredCluster& at, const CatalogListing& listing, int64_t hour_s) const;
  // Drops the recent rows of an interval that has a catalog, whoever wrote it.
  Status DropKnown(const CatalogInterval& interval, const CatalogListing& listing);
  Status KeepRecentHours(const StoredCluster& at);
  // Rebuilds one old hour per round whose own catalog was deleted. Skips a day per round if all
  // catalogs exist.
  Status RebuildOldHours(const StoredCluster& at);
  // Searches one old hour per round, which has a catalog, for bundles that came later.
  Status FindLateUploads(const StoredCluster& at);
  // Returns end_s if there is none.
  Result<int64_t> NextHourWithBundles(const StoredCluster& at, int64_t from_s, int64_t end_s) const;
  // Updates an hour that is over: its late rows and its catalog.
  Status KeepHour(const StoredCluster& at, int64_t hour_s);
  Status KeepHourOnce(const StoredCluster& at, int64_t hour_s, std::vector<std::string>& damaged);
  Status Forget(const std::vector<std::string>& damaged, const CatalogListing& listing);
  // Deletes the catalogs that were merged into the hour's own catalog: the first function an hour
  // later, the second one at once.
  Status DeleteReplaced(const StoredCluster& at, const CatalogListing& listing, int64_t hour_s);
  Status DeleteReplacedIn(const CatalogListing& listing, int64_t hour_s);

  int64_t NowSeconds() const { return clock_.WallNs() / kNsPerSecond; }
  bool IsOver(int64_t hour_s) const {
    return hour_s + kHourSeconds + options_.close_hour_s <= NowSeconds();
  }

  ObjectStore& store_;
  RecentRows& recent_;
  const Clock& clock_;
  const CatalogKeeperOptions options_;
  KeeperFigures figures_;
  IntervalKeeper intervals_;
  std::map<Cluster, LookBack> look_backs_;
  std::map<Cluster, OldPass> old_passes_;
  std::map<Cluster, LatePass> late_passes_;
  std::map<Hour, int64_t> done_since_ns_;
  std::map<Cluster, int64_t> looked_ns_;  // when all open intervals were looked at; monotonic
  std::map<CatalogInterval, Arrival> arrivals_;
};

}  // namespace firetower::store
