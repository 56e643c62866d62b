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

// The locations of a profile that is being built; equal ones get the same dense id. A location is
// looked up by what it says, its lines with it: one search instead of one for the lines before.
class LocationTable {
 public:
  uint32_t Intern(const Location& location);
  // An id of its own that Intern never gives, so that it may be set.
  uint32_t AddOpen();
  void Set(uint32_t open, const Location& location);

  // Valid until the next call that adds a location.
  Location Get(uint32_t id) const;

  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }
  // Memory held, for byte budgets.
  size_t bytes() const;
  void Reserve(size_t locations);

  // What was built; nothing is added afterwards.
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
