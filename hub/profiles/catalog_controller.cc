// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/catalog_controller.h"

#include "base/log.h"

namespace firetower::hub {

CatalogController::CatalogController(store::ObjectStore& store, store::RecentRows& recent,
                                     const Clock& clock, const std::string& cluster)
    : clock_(clock), keeper_(store, recent, clock, {.cluster = cluster}) {
  now_.looked_ns = clock_.MonotonicNs();
  figures_.Publish(std::make_shared<const CatalogFigures>(now_));
}

void CatalogController::Look(bool leads, const std::stop_token& stop) {
  const int64_t began_ns = clock_.MonotonicNs();
  const Status looked = keeper_.Look(leads);
  if (stop.stop_requested()) return;
  const bool failed_before = !now_.error.empty();
  now_.error = looked ? "" : looked.error().message();
  ++(looked ? now_.rounds : now_.failed_rounds);
  if (looked) now_.looked_ns = began_ns;
  now_.keeper = keeper_.figures();
  // Once, not every minute of an outage.
  if (!looked && !failed_before)
    LOG(kWarn, "catalogs are not written: the store fails", {{"error", now_.error}});
  if (looked && failed_before) LOG(kInfo, "catalogs are written again", {});
  WarnOfLongRounds(clock_.MonotonicNs() - began_ns);
  figures_.Publish(std::make_shared<const CatalogFigures>(now_));
}

// Once, too.
void CatalogController::WarnOfLongRounds(int64_t took_ns) {
  const bool is_long = took_ns > kBehindSeconds * kNsPerSecond;
  if (is_long && !was_long_)
    LOG(kWarn, "a catalog round is slow: answers are outdated by that time",
        {{"seconds", took_ns / kNsPerSecond}, {"bundles_read", now_.keeper.bundles_read}});
  if (!is_long && was_long_) LOG(kInfo, "catalog rounds are fast again", {});
  was_long_ = is_long;
}

}  // namespace firetower::hub
