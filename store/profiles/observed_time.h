// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace firetower::store {

// The time that the profiles of an answer cover, each moment once: the divisor of "per second". A
// window's start is that of its first slice, but the window counts everything since the previous
// one ended, so up to half a second between consecutive windows of a node counts as covered.
class ObservedTime {
 public:
  // Adds [start_ns, end_ns) of Unix time, in any order. Cuts off time before 1970, and ignores
  // empty ranges.
  void Add(const std::string& node, int64_t start_ns, int64_t end_ns) {
    of_nodes_[node].emplace_back(start_ns, end_ns);
  }
  int64_t Ns() &&;

 private:
  using Intervals = std::vector<std::pair<int64_t, int64_t>>;
  std::map<std::string, Intervals> of_nodes_;
};

}  // namespace firetower::store
