// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/retention_controller.h"

#include <utility>

#include "base/log.h"

namespace firetower::hub {

RetentionController::RetentionController(store::ObjectStore& store,
                                         const store::RetentionPolicy& policy, const Clock& clock,
                                         std::string cluster)
    : store_(store), policy_(policy), clock_(clock), cluster_(std::move(cluster)) {
  figures_.Publish(std::make_shared<const RetentionFigures>());
}

void RetentionController::Look(bool leads, const std::stop_token& stop) {
  const int64_t now_ns = clock_.MonotonicNs();
  if (!leads || now_ns < due_ns_) return;
  due_ns_ = now_ns + kEveryNs;
  const uint64_t before = now_.swept.deleted_objects;
  const Status swept = store::SweepByAge(store_, policy_, clock_, now_.swept, cluster_);
  const Status aborted = store::AbortOldUploads(store_, clock_, now_.swept, cluster_);
  if (stop.stop_requested()) return;
  now_.error = swept ? "" : swept.error().message();
  now_.uploads_error = aborted ? "" : aborted.error().message();
  ++(swept && aborted ? now_.sweeps : now_.failed_sweeps);
  const uint64_t deleted = now_.swept.deleted_objects - before;
  if (!swept) {
    LOG(kWarn, "some expired objects were not deleted",
        {{"error", now_.error}, {"deleted", deleted}});
  } else if (deleted > 0) {
    LOG(kInfo, "expired objects were deleted", {{"objects", deleted}});
  }
  if (!aborted) {
    LOG(kWarn, "unfinished uploads could not be aborted", {{"error", now_.uploads_error}});
  }
  figures_.Publish(std::make_shared<const RetentionFigures>(now_));
}

}  // namespace firetower::hub
