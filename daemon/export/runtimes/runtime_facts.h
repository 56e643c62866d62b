// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace firetower::daemon {

// Counts samples of CPU time whose stacks come through an interpreter's code, by what they show.
struct RuntimeSamples {
  uint64_t named = 0;
  uint64_t unnamed = 0;      // some of its functions have no name
  uint64_t none = 0;         // none of its functions is shown: it starts or ends, or is new here
  uint64_t unsupported = 0;  // of a version whose functions have no names

  bool operator==(const RuntimeSamples&) const = default;
};

struct UnsupportedRuntime {
  std::string runtime;
  std::string file;
  std::string why;
  uint64_t samples = 0;

  bool operator==(const UnsupportedRuntime&) const = default;
};

// The interpreters of a node: for `doctor`, policies' status and metrics.
struct RuntimeFacts {
  std::map<std::string, RuntimeSamples> totals;  // since the start, by the runtime
  // In the last window:
  std::map<std::string, RuntimeSamples> window;
  std::vector<UnsupportedRuntime> unsupported;
  std::map<std::string, UnsupportedRuntime> by_policy;  // that of most samples
};

}  // namespace firetower::daemon
