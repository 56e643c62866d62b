// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/outbox/outbox.h"
#include "daemon/outbox/refusal_log.h"
#include "daemon/outbox/rollups.h"
#include "daemon/outbox/store_health.h"
#include "daemon/outbox/sweep.h"
#include "store/access/served_store.h"
#include "store/retention.h"
#include "store/spool/spool.h"
#include "store/spool/spooled_store.h"
#include "store/spool/uploader.h"
#include "store/store.h"

namespace firetower::daemon {

struct StoreSideOptions {
  std::string url;  // as OpenStore takes it
  std::string cluster;
  std::string node;
  // For a store that is a folder of this machine.
  store::RetentionPolicy retention;
  // For every other store.
  std::string spool_folder;  // absolute
  uint64_t spool_bytes = 0;
  // The folder in which this node kept its profiles before it used that store; absolute, empty:
  // none. Its contents are deleted by the same retention, but without a bound in bytes.
  std::string former_folder;
  int64_t spread_ns = 0;                 // uploads of a window begin within that time of its end
  int64_t finish_ns = 8 * kNsPerSecond;  // to upload the remaining objects at the end
  // Readers of this daemon see all objects of that store, not only those that this node spooled
  // within an hour.
  bool serve_others = false;
};

// The way of finished objects to their store, and the profiles that readers on this node can query:
//
//   exporter ──► outbox ──► folder, with retention
//                  └──────► spool ──► upload ──► any other store
//                             └──► roll-ups ──► spool
//          former folder, until all of it is too old
//
// Deletes nothing in a store that is not this machine's own: other nodes write to it too.
class StoreSide {
 public:
  // Fails as OpenStore and Spool::Open do. The clock must outlive this.
  static Result<std::unique_ptr<StoreSide>> Open(const StoreSideOptions& options,
                                                 const Clock& clock);
  ~StoreSide() { Finish(); }

  // Must be called once, before Start. The observer must outlive this.
  ObjectSink& Connect(StoreObserver& observer);
  void Start();
  // Waits until all objects are stored, or spooled and, as far as time allows, uploaded.
  void Finish();

  // The store that readers on this node query.
  const store::ServedStore& readable() const { return *readable_; }
  // Returns the store if it is a folder of this machine; else null.
  store::ObjectStore* folder() { return spool_ ? nullptr : store_.get(); }
  std::string Describe() const { return store_->Describe(); }
  // Tells whether the store can be reached and listed within that time.
  Status Check(int64_t timeout_ns) const;
  // Any thread, after Connect.
  uint64_t dropped_samples() const { return outbox_->dropped_samples(); }
  std::optional<store::SpoolFigures> spool_figures() const;
  const StoreHealth& health() const { return health_; }
  const std::string& spool_folder() const { return options_.spool_folder; }
  int64_t clock_skew_ns() const { return store_->ClockSkewNs(); }

 private:
  StoreSide(StoreSideOptions options, const Clock& clock, std::unique_ptr<store::ObjectStore> store)
      : options_(std::move(options)), clock_(clock), store_(std::move(store)) {}

  // For a folder: opens the spool that an earlier configuration left for another store. Its objects
  // were accepted and must not be lost.
  void OpenLeftoverSpool();
  void MoveLeftover();
  // For any other store: opens the folder of an earlier configuration. Only this node knows it, so
  // this node applies its retention.
  void OpenFormerFolder();
  void SweepFormerFolder();

  const StoreSideOptions options_;
  const Clock& clock_;
  const std::unique_ptr<store::ObjectStore> store_;
  StoreHealth health_{clock_};
  // Both are set if the store is not a folder of this machine.
  std::unique_ptr<store::Spool> spool_;
  std::unique_ptr<store::SpooledStore> spooled_;
  std::unique_ptr<store::Spool> left_;  // of another store; null: there is nothing in it
  RefusalLog not_moved_{clock_};
  RefusalLog not_swept_{clock_};                // of what is in former_
  std::unique_ptr<store::ObjectStore> former_;  // null: it is empty
  std::optional<store::ServedStore> readable_;
  std::unique_ptr<store::Uploader> uploader_;
  std::optional<RollUps> rollups_;
  std::optional<Sweep> sweep_;  // else
  std::unique_ptr<Outbox> outbox_;
};

}  // namespace firetower::daemon
