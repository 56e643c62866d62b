// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "profile/profile.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::store {

// What of a stored profile a sum counts: of a capture only what its container's windows, or earlier
// captures, do not hold too, but all of it where captures are asked for.
class CountedPart {
 public:
  explicit CountedPart(const Query& query) : captures_(query.Mentions("capture")) {}

  int64_t Samples(const CatalogRow& row) const {
    return captures_ ? row.samples : row.samples - row.also_samples;
  }
  int64_t Value(const CatalogRow& row) const {
    return captures_ ? row.value : row.value - row.also_value;
  }
  bool IsAll(const CatalogRow& row) const { return captures_ || row.also_samples == 0; }
  bool IsNone(const CatalogRow& row) const { return !IsAll(row) && Samples(row) <= 0; }
  // Of the profile of a row that is not all counted.
  static profile::Profile Of(const profile::Profile& profile);

 private:
  bool captures_;
};

}  // namespace firetower::store
