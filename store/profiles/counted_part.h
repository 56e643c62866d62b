// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "profile/profile.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::store {

// The part of a stored profile that a sum counts: all of a window; for a capture only the samples
// that no window and no earlier capture has, or all of it if captures are queried.
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
  // Returns the counted part of a profile whose row is only partly counted.
  static profile::Profile Of(const profile::Profile& profile);

 private:
  bool captures_;
};

}  // namespace firetower::store
