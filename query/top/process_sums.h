// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/comments.h"
#include "profile/profile.h"
#include "query/top/reading.h"
#include "query/wire.h"

namespace firetower::query {

// Sums the values of processes over many profiles, by container and name, with the value of each
// stack that they had. Used by one thread.
//
// When there are too many entries, Prune() drops the stacks with the smallest values, then the
// processes with the smallest ones, by Lossy Counting as FunctionSums does. After Recount() and a
// second pass over the profiles, every process and stack that is left is exact.
class ProcessSums {
 public:
  ProcessSums() : ProcessSums("comm", true) {}
  // Adds the value `value_index` of a container's profile.
  void Add(const profile::Profile& profile, uint32_t value_index, const ContainerKey& container);

  int64_t total() const { return total_; }
  size_t processes() const { return sums_.size(); }  // that were not dropped
  uint64_t bytes() const { return bytes_; }          // that these take, about
  // Halves bytes(), if there is anything to drop.
  void Prune();
  // Tells whether something was dropped and no recount has begun: then all profiles have to be
  // added again, after Recount().
  bool needs_recount() const { return has_dropped_ && !is_recounting_; }
  // Sets all sums to 0 and keeps what is left. Nothing is added to that from then on.
  void Recount();
  // The largest value that a process which was dropped can have; 0: none was.
  int64_t max_hidden() const { return max_hidden_; }
  // Returns the first `k` processes by value, then by name, without their cores.
  std::vector<TopProcess> Top(size_t k) const;

 protected:
  // Sums by another label than that of processes. `counts_nameless`: samples without it are a row.
  ProcessSums(std::string_view label, bool counts_nameless)
      : label_(label), counts_nameless_(counts_nameless) {}

 private:
  struct Stack {
    int64_t value = 0;
    std::vector<std::string> functions;  // outermost first
  };
  struct Sum {
    int64_t value = 0;
    int64_t samples = 0;
    int64_t lost = 0;                  // the most that it had before it was kept
    std::map<uint64_t, Stack> stacks;  // by a hash of the functions
  };
  using Key = std::pair<ContainerKey, std::string>;

  // Returns the sum of a process; nullptr if it was dropped and all are counted again.
  Sum* SumOf(Key key);
  void DropStacks();
  void DropProcesses();
  TopProcess Row(const Key& key, const Sum& sum) const;

  std::string_view label_;
  bool counts_nameless_;

  std::map<Key, Sum> sums_;
  int64_t total_ = 0;
  int64_t max_hidden_ = 0;
  bool has_dropped_ = false;
  bool is_recounting_ = false;
  uint64_t bytes_ = 0;
};

// The same by the trace that a sample's thread worked on; samples without one are in the total.
class TraceSums : public ProcessSums {
 public:
  TraceSums() : ProcessSums(profile::kTraceLabel, false) {}
};

}  // namespace firetower::query
