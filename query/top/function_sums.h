// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/top/top.h"
#include "query/wire.h"

namespace firetower::query {

// Sums self and total of every function, or of every line, over many profiles, by container. Holds
// one entry per function and container, not the profiles: a top table needs no merged profile. Used
// by one thread.
//
// When there are too many entries, Prune() drops the containers in which a function has little,
// then the functions with the smallest total, by Lossy Counting as in profile/tree/bounded_tree.h.
// Sums stay exact. After Recount() and a second pass over the profiles, every function that is left
// is exact too.
class FunctionSums {
 public:
  FunctionSums() = default;
  explicit FunctionSums(profile::TopBy by) : by_(by) {}

  // Adds the value `value_index` of `profile`. `container` is the container that it ran in.
  void Add(const profile::Profile& profile, uint32_t value_index, const std::string& container);

  int64_t total() const { return total_; }
  size_t functions() const { return sums_.size(); }  // that were not dropped
  uint64_t bytes() const { return bytes_; }          // that these take, about
  // Halves bytes(), if there is anything to drop.
  void Prune();
  // Tells whether functions were dropped and no recount has begun: then all profiles have to be
  // added again, after Recount().
  bool needs_recount() const { return max_hidden_ > 0 && !is_recounting_; }
  // Sets all sums to 0 and keeps the functions. No functions are added from then on.
  void Recount();
  // The self of the functions that were dropped.
  int64_t other_self() const { return other_self_; }
  // The largest total that such a function can have; 0: none was dropped.
  int64_t max_hidden() const { return max_hidden_; }
  // Returns the self of the function, or line, of a row; 0 if it has none.
  int64_t SelfOf(const TopFunction& row) const;
  // Returns the first `k` functions by self, then by total, then by name.
  std::vector<TopFunction> Top(size_t k) const;

 private:
  struct Name {
    std::string function;
    std::string module;
    std::string file;  // by lines
    int64_t line = 0;

    auto operator<=>(const Name&) const = default;
    size_t bytes() const { return function.size() + module.size() + file.size(); }
  };
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

  profile::TopBy by_ = profile::TopBy::kFunction;
  Sums sums_;
  int64_t total_ = 0;
  int64_t other_self_ = 0;
  int64_t max_hidden_ = 0;
  bool is_recounting_ = false;
  uint64_t bytes_ = 0;
};

class LineSums : public FunctionSums {
 public:
  LineSums() : FunctionSums(profile::TopBy::kLine) {}
};

}  // namespace firetower::query
