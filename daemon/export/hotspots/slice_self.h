// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/export/frame_namer.h"
#include "daemon/export/lock_namer.h"
#include "daemon/metrics/hotspot_tracker.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Returns the kind of the hotspots of a container's profiles; unset: it has no families.
std::optional<HotspotKind> KindOf(const Slice::ContainerEntry& entry);

// Computes self time by function for each container of a slice, as input for the hotspot metrics.
// CPU time belongs to the function on top of the stack. A wait belongs to the innermost function of
// user space: on top is always the scheduler. A wait for a lock belongs to the function that takes
// it. An allocation belongs to the function that called the allocator.
// Owned by the export thread. A result is valid until the next call.
class SliceSelf {
 public:
  explicit SliceSelf(FrameNamer& namer) : namer_(namer), locks_(namer) {}

  const std::vector<ContainerSlice>& Compute(const Slice& slice);

 private:
  // Function and binary as labels. All code without a name counts as one function per binary,
  // because addresses as labels would make a series for every address.
  struct Function {
    std::string function;
    std::string binary;
    auto operator<=>(const Function&) const = default;
  };

  // Returns the id, in functions_, of the function to which a stack's time belongs.
  uint32_t TopOf(const Slice& slice, uint32_t stack, Type type);
  const Frame& FrameOf(const Slice& slice, uint32_t stack, Type type);
  // Tells whether the row's time is one of its container's hotspots: waits for a lock, but not for
  // what has no holder.
  bool Counts(const Slice& slice, const Slice::Row& row, Type type);

  FrameNamer& namer_;
  std::map<Function, uint32_t> ids_;
  std::vector<const Function*> functions_;
  LockNamer locks_;
  std::array<std::vector<uint32_t>, FT_TYPE_EVENT> top_of_stack_;  // by how it is chosen, and stack
  std::vector<std::vector<FunctionSelf>> selves_;                  // by container
  std::vector<ContainerSlice> out_;
};

}  // namespace firetower::daemon
