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

// The policies of the API server. A watch a kind tells of them on a thread of its own; the control
// thread, which owns this, is woken and takes them over by Reload. What was told stays while the
// server is away. At most kMaxOfAKind of each kind, the rest is counted.
class PolicyObjects {
 public:
  static constexpr size_t kMaxOfAKind = 1000;

  // `clock` outlives this.
  explicit PolicyObjects(const Clock& clock);
  PolicyObjects(const PolicyObjects&) = delete;
  PolicyObjects& operator=(const PolicyObjects&) = delete;

  // Returns the resource to watch and its consumer, for the namespaced or the cluster kind.
  static k8s::Resource ResourceOf(bool cluster);
  k8s::ObjectConsumer& consumer(bool cluster);

  // Readable when something may have changed.
  int fd() const { return changed_.fd(); }
  // True if the policies are others than before: a written status changes nothing.
  bool Reload();

  const std::vector<LoadedPolicy>& policies() const { return policies_; }
  // Why some are refused.
  const std::vector<k8s::PolicyError>& errors() const { return errors_; }
  // How many are.
  size_t refused() const { return refused_; }
  // Returns remarks for people about policies that are not refused.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using Kind = k8s::ObjectStore<k8s::PolicyObject>;
  // Display name, uid, generation, whether it is in force.
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
