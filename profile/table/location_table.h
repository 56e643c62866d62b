// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/container/growing_array.h"
#include "profile/profile.h"
#include "profile/table/id_set.h"
#include "profile/table/interner.h"

namespace firetower::profile {

// The locations of a profile that is being built; equal locations get the same dense id. The key of
// a location includes its lines, so that one search suffices.
class LocationTable {
 public:
  uint32_t Intern(const Location& location);
  // Adds a location whose id Intern never returns, so that it may be set later.
  uint32_t AddOpen();
  void Set(uint32_t open, const Location& location);

  // Returns a location. Valid until the next call that adds one.
  Location Get(uint32_t id) const;

  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }
  // The memory held, for byte budgets.
  size_t bytes() const;
  void Reserve(size_t locations);

  // Moves the finished tables out. Nothing may be added afterwards.
  Pool<Line> TakeLines() { return std::move(lines_).TakePool(); }
  GrowingArray<LocationRecord> TakeRecords() { return std::move(records_); }

 private:
  bool IsAt(uint32_t id, const Location& location) const;
  LocationRecord RecordOf(const Location& location);

  Interner<Line> lines_;
  GrowingArray<LocationRecord> records_;
  IdSet ids_;
  uint32_t next_ = 0;     // behind what was interned last
  bool is_open_ = false;  // some ids are never given
};

}  // namespace firetower::profile
