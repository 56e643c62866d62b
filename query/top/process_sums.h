// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "query/top/reading.h"
#include "query/wire.h"

namespace firetower::query {

// Sums the values of processes over many profiles, by container and name, with the value of each
// stack that they had. Used by one thread.
//
// When there are too many stacks, Prune() drops those with the smallest values. The sums of
// processes stay exact; the share of a hottest stack may then be too small.
class ProcessSums {
 public:
  // Adds the value `value_index` of a container's profile.
  void Add(const profile::Profile& profile, uint32_t value_index, const ContainerKey& container);

  int64_t total() const { return total_; }
  size_t processes() const { return sums_.size(); }
  uint64_t bytes() const { return bytes_; }  // that the stacks take, about
  // Drops half of the stacks.
  void Prune();
  // Returns the first `k` processes by value, then by name, without their cores.
  std::vector<TopProcess> Top(size_t k) const;

 private:
  struct Stack {
    int64_t value = 0;
    std::vector<std::string> functions;  // outermost first
  };
  struct Sum {
    int64_t value = 0;
    int64_t samples = 0;
    std::map<uint64_t, Stack> stacks;  // by a hash of the functions
  };
  using Key = std::pair<ContainerKey, std::string>;

  TopProcess Row(const Key& key, const Sum& sum) const;

  std::map<Key, Sum> sums_;
  int64_t total_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace firetower::query
