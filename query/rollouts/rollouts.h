// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/selector.h"
#include "query/time_range.h"
#include "store/catalog.h"

namespace firetower::query {

// A Deployment's change from one revision of its pods to another, as the stored profiles show it.
// A revision is told by the label pod-template-hash, which stands in the names of pods.
struct Rollout {
  std::string namespace_name;
  std::string workload;
  std::string before;
  std::string after;
  int64_t at_ns = 0;  // Unix time: when the first profile of a pod of `after` begins

  bool operator==(const Rollout&) const = default;
};

// Returns the revision of a Deployment's pod, by its name, WORKLOAD-REVISION-XXXXX; "" for a pod
// of any other kind. Revision and suffix have only characters that Kubernetes gives to such names
// (k8s.io/apimachinery, pkg/util/rand).
std::string_view RevisionOf(std::string_view workload, std::string_view pod);

// Finds roll-outs in the profiles that are added, in any order. A roll-out begins with a pod of a
// revision of which no pod had a profile then; the one before is that of the newest pod up to then.
// The first revision of a workload is none, as nothing tells what was before; a return to an
// earlier one is a roll-out as well.
class RolloutFinder {
 public:
  void Add(const store::CatalogRow& row);
  // Forgets the pods whose last profile ended before that time.
  void Forget(int64_t before_ns);
  std::vector<Rollout> Find() const;  // in order of time
  size_t pods() const;

 private:
  struct Pod {
    std::string revision;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
  };
  using Pods = std::map<std::string, Pod>;               // by name
  using Workload = std::pair<std::string, std::string>;  // namespace, name
  static void AddRollouts(const Workload& workload, const Pods& pods, std::vector<Rollout>& to);

  std::map<Workload, Pods> workloads_;
};
std::vector<Rollout> FindRollouts(std::span<const store::CatalogRow> rows);

// Returns `selector` for only the pods of a revision.
profile::Selector PodsOf(const profile::Selector& selector, std::string_view workload,
                         std::string_view revision);

// The times to compare, for what was asked from `from_ns` to `to_ns`: after the roll-out, and as
// long before it.
struct RolloutRanges {
  TimeRange before;
  TimeRange after;
};
RolloutRanges RangesOf(const Rollout& rollout, int64_t from_ns, int64_t to_ns);

}  // namespace firetower::query
