// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace firetower::store {

// Time that the profiles of an answer cover, each moment once: the divisor of "per second". The
// start of a window is that of its first slice, but it counts everything since the previous one
// ended, so up to half a second between one window of a node and the next counts as covered.
class ObservedTime {
 public:
  // [start_ns, end_ns) of Unix time, in any order. What begins before 1970 is taken from there on,
  // empty ones count nothing.
  void Add(const std::string& node, int64_t start_ns, int64_t end_ns) {
    of_nodes_[node].emplace_back(start_ns, end_ns);
  }
  int64_t Ns() &&;

 private:
  using Intervals = std::vector<std::pair<int64_t, int64_t>>;
  std::map<std::string, Intervals> of_nodes_;
};

}  // namespace firetower::store
