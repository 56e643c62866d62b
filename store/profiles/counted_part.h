// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/select/stack_filter.h"
#include "profile/times/timed_profile.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::store {

// The part of a stored profile that a sum counts: all of a window; for a capture only the samples
// that no window and no earlier capture has, or all of it if captures are queried. With a cut of
// time, of either only what was sampled then; of that the stacks that a filter leaves.
class CountedPart {
 public:
  explicit CountedPart(const Query& query)
      : captures_(query.Mentions("capture")), cut_(query.cut), stacks_(query.stacks) {}

  const std::optional<profile::TimeCut>& cut() const { return cut_; }

  int64_t Samples(const CatalogRow& row) const {
    return captures_ ? row.samples : row.samples - row.also_samples;
  }
  int64_t Value(const CatalogRow& row) const {
    return captures_ ? row.value : row.value - row.also_value;
  }
  bool IsAll(const CatalogRow& row) const { return IsWhole(row) && !cut_ && !stacks_; }
  bool IsNone(const CatalogRow& row) const { return !IsWhole(row) && Samples(row) <= 0; }
  // Returns the counted part of a stored profile that is not IsAll. `times` is its side entry.
  // kUnsupported: a cut of time needs one, and there is none. Else as DecodeTimed.
  Result<profile::Profile> Read(const CatalogRow& row, std::string_view pprof,
                                std::string_view times) const;
  // Does the same for one in memory; `times` may be null.
  Result<profile::Profile> Of(const CatalogRow& row, const profile::Profile& profile,
                              const profile::SampleTimes* times) const;

 private:
  bool IsWhole(const CatalogRow& row) const { return captures_ || row.also_samples == 0; }
  profile::Profile Filtered(profile::Profile profile) const;
  Result<profile::Profile> CutOf(const profile::TimedProfile& timed) const;

  bool captures_;
  std::optional<profile::TimeCut> cut_;
  std::shared_ptr<const profile::StackFilter> stacks_;
};

}  // namespace firetower::store
