// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/policy/policy_selection.h"
#include "k8s/policy/object.h"
#include "k8s/watch/object_store.h"
#include "k8s/watch/reflector.h"

namespace firetower::daemon {

// The policies of the API server. A watch for each kind updates them on its own thread and wakes
// the control thread, which owns this object and takes the changes over with Reload. Policies stay
// while the server is away. At most kMaxOfAKind of each kind are kept; further ones are counted.
class PolicyObjects {
 public:
  static constexpr size_t kMaxOfAKind = 1000;

  // `clock` must outlive this.
  explicit PolicyObjects(const Clock& clock);
  PolicyObjects(const PolicyObjects&) = delete;
  PolicyObjects& operator=(const PolicyObjects&) = delete;

  // Returns the resource to watch and its consumer, for the namespaced or the cluster kind.
  static k8s::Resource ResourceOf(bool cluster);
  k8s::ObjectConsumer& consumer(bool cluster);

  // This descriptor becomes readable when something may have changed.
  int fd() const { return changed_.fd(); }
  // Applies changes. Returns true if policies changed; a new status does not count.
  bool Reload();

  const std::vector<LoadedPolicy>& policies() const { return policies_; }
  // The reasons why policies are refused.
  const std::vector<k8s::PolicyError>& errors() const { return errors_; }
  // The number of refused policies.
  size_t refused() const { return refused_; }
  // Remarks for people about policies that are not refused.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using Kind = k8s::ObjectStore<k8s::PolicyObject>;
  // Display name, uid, generation, and whether it is in force.
  using Identity = std::tuple<std::string, std::string, int64_t, bool>;

  void Take(const k8s::PolicyObject& object);

  const Clock& clock_;
  WakeFd changed_;
  std::array<std::unique_ptr<Kind>, 2> kinds_;  // namespaced, cluster
  std::vector<Identity> identities_;            // of what was taken over
  uint64_t left_out_ = 0;
  std::vector<LoadedPolicy> policies_;
  std::vector<k8s::PolicyError> errors_;
  size_t refused_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace firetower::daemon
