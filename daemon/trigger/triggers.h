// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/process/cgroup_tree.h"
#include "daemon/trigger/firing.h"
#include "daemon/trigger/metric_source.h"
#include "k8s/pods/pod.h"

namespace firetower::daemon {

class PolicyTrigger;

// A container or systemd unit that armed policies take. A pod's own cgroup and the host's are let
// be: they have no rules of their own.
struct WatchedContainer {
  std::shared_ptr<const Container> container;
  std::shared_ptr<const k8s::Pod> pod;  // for requests; nullptr while it is not known
  std::vector<size_t> policies;         // places in the list of armed policies
};

struct PolicyTriggerCounts {
  ArmedPolicy policy;
  TriggerCounts counts;
};

// A rule that can never hold here, and why.
struct UnservedRule {
  ArmedPolicy policy;
  std::string rule;
  std::string reason;  // "ContainerCPUPressure: …"
};

// Says when armed policies fire. Owned by the control thread, which asks once a second. The subject
// of a capture is what its scope names: a container, a pod or the node. Cooldown counts from the
// end of a capture and for its subject, the hourly cap for the policy; docs/triggers.md has the
// rest.
//
// Of more than kMaxPolicies policies or kMaxContainers containers the first of the list count.
// State goes with its container or policy, but for what a policy captured in the last hour: that
// counts for the next one of its name, too.
class Triggers {
 public:
  static constexpr size_t kMaxPolicies = 256;
  static constexpr size_t kMaxContainers = 1024;

  explicit Triggers(MetricSource& source);
  ~Triggers();

  // Sets the policies and containers to watch from now on; cheap where little changed. A policy
  // stays itself by kind, namespace, name and uid. It starts anew when its generation or its
  // trigger changes, and continues when another part of it does (in a file). A container whose
  // cgroup is gone should stay in the list for some seconds, because its OOM kill may be told late.
  void Arm(const std::vector<ArmedPolicy>& policies,
           const std::vector<WatchedContainer>& containers);

  // Takes over the captures that a policy of this name (DisplayName) made in the last hour, before
  // this process began: monotonic times, in order. To be called before it is armed.
  void Remember(const std::string& policy, std::vector<int64_t> captures_ns) {
    remembered_[policy] = std::move(captures_ns);
  }

  // An OOM kill that somebody saw happen, in this cgroup of the chosen hierarchy: the next Evaluate
  // knows it. It may come some seconds before Arm knows the container. The cgroup's own count may
  // tell of it too: that is one kill.
  void NoteOomKill(std::string_view cgroup_path, int64_t monotonic_ns);

  // Reads what the rules need and returns what fired.
  std::vector<Firing> Evaluate(int64_t monotonic_ns, int64_t wall_ns);

  // Returns the counts of the last Evaluate for the armed policies, in their order.
  std::vector<PolicyTriggerCounts> Counts() const;
  std::vector<UnservedRule> Unserved() const;
  // Returns the policies that may fire here: a rule is about the node, or about a container on it.
  std::vector<ArmedPolicy> MayFire() const;
  size_t policies_left_out() const { return policies_left_out_; }
  size_t containers_left_out() const { return containers_left_out_; }

 private:
  struct Watched;
  struct ToldKill {
    std::string path;
    int64_t at_ns = 0;
  };
  // A container starts and is killed within a second, and Arm is told of it later still.
  static constexpr int64_t kKeepToldNs = 10'000'000'000;
  static constexpr size_t kMaxToldKills = 256;

  using WatchedByPath = std::unordered_map<std::string, std::unique_ptr<Watched>>;  // root paths

  void ArmPolicies(const std::vector<ArmedPolicy>& policies);
  // Takes over captures by earlier policies with this name: another uid, or a previous process.
  void InheritByName(PolicyTrigger& policy);
  // Returns those of before that are not there any more: policies still point to them.
  WatchedByPath ArmContainers(const std::vector<WatchedContainer>& containers);
  void SetTargets(const std::vector<WatchedContainer>& containers);
  Watched* FindWatched(std::string_view cgroup_path) const;
  void TakeToldKills();

  MetricSource& source_;
  WatchedByPath watched_;
  std::vector<std::unique_ptr<PolicyTrigger>> policies_;
  // By identity: armed no more, but with captures of the last hour.
  std::unordered_map<std::string, std::unique_ptr<PolicyTrigger>> past_;
  std::unordered_map<std::string, std::vector<int64_t>> remembered_;  // by DisplayName
  std::vector<ToldKill> told_;
  size_t policies_left_out_ = 0;
  size_t containers_left_out_ = 0;
};

}  // namespace firetower::daemon
