// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/snapshot.h"
#include "store/retention.h"
#include "store/store.h"

namespace firetower::hub {

struct RetentionFigures {
  store::SweepFigures swept;
  uint64_t sweeps = 0;         // that went well
  uint64_t failed_sweeps = 0;  // something of them failed: a deletion, a listing, an abort
  // Of the last sweep; empty: that part of it went well.
  std::string error = {};          // of deleting objects above their age
  std::string uploads_error = {};  // of deleting abandoned uploads
};

// Deletes expired objects of one cluster, and aborts uploads that killed agents left behind.
// Belongs to the `retention` thread, except figures().
class RetentionController {
 public:
  static constexpr int64_t kEveryNs = 3600 * kNsPerSecond;

  // Borrows all references, which must outlive this. `cluster` is a component of keys.
  RetentionController(store::ObjectStore& store, const store::RetentionPolicy& policy,
                      const Clock& clock, std::string cluster);

  // Sweeps if this hub leads and the last sweep was an hour ago. Two concurrent sweeps do no harm.
  // Failures after `stop` was requested do not count.
  void Look(bool leads, const std::stop_token& stop = {});
  // Returns the figures of the last finished sweep.
  std::shared_ptr<const RetentionFigures> figures() const { return figures_.Get(); }

 private:
  store::ObjectStore& store_;
  const store::RetentionPolicy policy_;
  const Clock& clock_;
  const std::string cluster_;
  int64_t due_ns_ = 0;  // monotonic
  RetentionFigures now_;
  SnapshotCell<RetentionFigures> figures_;
};

}  // namespace firetower::hub
