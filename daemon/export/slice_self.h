// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/export/frame_namer.h"
#include "daemon/metrics/hotspot_tracker.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Computes self time by function for each container of a slice, as input for the hotspot metrics.
// Owned by the export thread. A result is valid until the next call.
class SliceSelf {
 public:
  explicit SliceSelf(FrameNamer& namer) : namer_(namer) {}

  const std::vector<ContainerSlice>& Compute(const Slice& slice);

 private:
  // Function and binary as labels. All code without a name counts as one function per binary,
  // because addresses as labels would make a series for every address.
  struct Function {
    std::string function;
    std::string binary;
    auto operator<=>(const Function&) const = default;
  };

  // Returns the id, in functions_, of the function at the top of a stack.
  uint32_t TopOf(const Slice& slice, uint32_t stack);

  FrameNamer& namer_;
  std::map<Function, uint32_t> ids_;
  std::vector<const Function*> functions_;
  std::vector<uint32_t> top_of_stack_;
  std::vector<std::vector<FunctionSelf>> selves_;  // by container
  std::vector<ContainerSlice> out_;
};

}  // namespace firetower::daemon
