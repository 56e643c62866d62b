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

// Self time by function for each container of a slice: what the hotspot metrics are fed with.
// Owned by the export thread; the result is valid until the next call.
class SliceSelf {
 public:
  explicit SliceSelf(FrameNamer& namer) : namer_(namer) {}

  const std::vector<ContainerSlice>& Compute(const Slice& slice);

 private:
  // Function and binary as labels. Code without a name is one function a binary: an address as a
  // label would be a series for every address.
  struct Function {
    std::string function;
    std::string binary;
    auto operator<=>(const Function&) const = default;
  };

  // Id of the function on top of a stack, in functions_.
  uint32_t TopOf(const Slice& slice, uint32_t stack);

  FrameNamer& namer_;
  std::map<Function, uint32_t> ids_;
  std::vector<const Function*> functions_;
  std::vector<uint32_t> top_of_stack_;
  std::vector<std::vector<FunctionSelf>> selves_;  // by container
  std::vector<ContainerSlice> out_;
};

}  // namespace firetower::daemon
