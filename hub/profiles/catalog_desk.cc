// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/catalog_desk.h"

#include "base/log.h"

namespace firetower::hub {

CatalogDesk::CatalogDesk(store::ObjectStore& store, store::RecentRows& recent, const Clock& clock,
                         const std::string& cluster)
    : keeper_(store, recent, clock, {.cluster = cluster}) {
  figures_.Publish(std::make_shared<const CatalogFigures>());
}

void CatalogDesk::Look(bool leads, const std::stop_token& stop) {
  const Status looked = keeper_.Look(leads);
  if (stop.stop_requested()) return;
  const bool failed_before = !now_.error.empty();
  now_.error = looked ? "" : looked.error().message();
  ++(looked ? now_.rounds : now_.failed_rounds);
  now_.keeper = keeper_.figures();
  // Once, not every minute of an outage.
  if (!looked && !failed_before)
    LOG(kWarn, "catalogs are not kept: the store fails", {{"error", now_.error}});
  if (looked && failed_before) LOG(kInfo, "catalogs are kept again", {});
  figures_.Publish(std::make_shared<const CatalogFigures>(now_));
}

}  // namespace firetower::hub
