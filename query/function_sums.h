// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "query/wire.h"

namespace firetower::query {

// Self and total of every function over many profiles, and which containers they came from. Holds
// one entry a function and container, not the profiles: a top table needs no merged profile.
class FunctionSums {
 public:
  // Adds the value `value_index` of `profile`. `container` tells where it ran.
  void Add(const profile::Profile& profile, uint32_t value_index, const std::string& container);

  int64_t total() const { return total_; }
  size_t functions() const { return sums_.size(); }
  uint64_t bytes() const { return bytes_; }  // that these take, about
  // The `k` with the most self value, then total; then by name.
  std::vector<TopFunction> Top(size_t k) const;

 private:
  using Name = std::pair<std::string, std::string>;  // function, module
  struct Sum {
    int64_t self = 0;
    int64_t total = 0;
    std::map<std::string, int64_t> containers;  // their total
  };
  TopFunction Row(const Name& name, const Sum& sum) const;

  std::map<Name, Sum> sums_;
  int64_t total_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace firetower::query
