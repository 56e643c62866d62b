// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/top.h"
#include "query/wire.h"

namespace firetower::query {

// Self and total of every function over many profiles, and which containers they came from. Holds
// one entry a function and container, not the profiles: a top table needs no merged profile. Used
// by one thread.
//
// When there are too many, Prune() drops containers of which a function has little, then functions
// with the least total, by Lossy Counting as profile/tree/bounded_tree.h describes. Sums stay
// exact, and after Recount() and a second feeding so is every function that is left.
class FunctionSums {
 public:
  // Adds the value `value_index` of `profile`. `container` tells where it ran.
  void Add(const profile::Profile& profile, uint32_t value_index, const std::string& container);

  int64_t total() const { return total_; }
  size_t functions() const { return sums_.size(); }  // that were not dropped
  uint64_t bytes() const { return bytes_; }          // that these take, about
  // Halves bytes(), if there is anything to drop.
  void Prune();
  // Says whether functions were dropped, and no recount has begun: then all profiles have to be
  // added once more, after Recount().
  bool needs_recount() const { return max_hidden_ > 0 && !is_recounting_; }
  // Sets all sums to 0 and keeps the functions. No functions are made from then on.
  void Recount();
  // Self of the functions that were dropped.
  int64_t other_self() const { return other_self_; }
  // The most that such a function can have in all; 0: none was dropped.
  int64_t max_hidden() const { return max_hidden_; }
  // The `k` with the most self value, then total; then by name.
  std::vector<TopFunction> Top(size_t k) const;

 private:
  using Name = std::pair<std::string, std::string>;  // function, module
  struct Sum {
    int64_t self = 0;
    int64_t total = 0;
    int64_t lost = 0;                           // the most that it had before it was kept
    std::map<std::string, int64_t> containers;  // their total
    uint64_t more_containers = 0;               // that were dropped; one may be counted twice
  };
  using Sums = std::map<Name, Sum>;
  TopFunction Row(const Name& name, const Sum& sum) const;
  void AddTo(Sum& sum, const profile::TopRow& row, const std::string& container);
  void DropContainers(Sum& sum);
  void DropFunctions();

  Sums sums_;
  int64_t total_ = 0;
  int64_t other_self_ = 0;
  int64_t max_hidden_ = 0;
  bool is_recounting_ = false;
  uint64_t bytes_ = 0;
};

}  // namespace firetower::query
