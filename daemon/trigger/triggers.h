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

// A container or systemd unit that armed policies take. A pod's own cgroup and the host are
// excluded, because they have no rules of their own.
struct WatchedContainer {
  std::shared_ptr<const Container> container;
  std::shared_ptr<const k8s::Pod> pod;  // for requests; nullptr while it is not known
  std::vector<size_t> policies;         // places in the list of armed policies
};

struct PolicyTriggerCounts {
  ArmedPolicy policy;
  TriggerCounts counts;
};

// A rule that can never hold here, with the reason.
struct UnservedRule {
  ArmedPolicy policy;
  std::string rule;
  std::string reason;  // "ContainerCPUPressure: …"
};

// Decides when armed policies fire. Owned by the control thread, which calls it once a second. The
// subject of a capture is determined by its scope: a container, a pod or the node. The cooldown
// counts per subject from the end of a capture, the hourly cap counts per policy; docs/triggers.md
// has the details.
//
// Beyond kMaxPolicies policies or kMaxContainers containers, only the first ones in the list count.
// The state of a removed container or policy is dropped, except for the policy's captures in the
// last hour: they count for the next policy with its name, too.
class Triggers {
 public:
  static constexpr size_t kMaxPolicies = 256;
  static constexpr size_t kMaxContainers = 1024;

  explicit Triggers(MetricSource& source);
  ~Triggers();

  // Sets the policies and containers to watch from now on; cheap if little changed. A policy is
  // identified by kind, namespace, name and uid. It starts again if its generation or its trigger
  // changes, and continues if another part of it does (in a file). Keep a container whose cgroup is
  // gone in the list for some seconds, because its OOM kill may be reported late.
  void Arm(const std::vector<ArmedPolicy>& policies,
           const std::vector<WatchedContainer>& containers);

  // Takes over the captures of the last hour that a policy with this name (DisplayName) made before
  // this process: monotonic times, in order. Must be called before the policy is armed.
  void Remember(const std::string& policy, std::vector<int64_t> captures_ns) {
    remembered_[policy] = std::move(captures_ns);
  }

  // Reports an OOM kill in this cgroup of the chosen hierarchy; the next Evaluate uses it. May come
  // some seconds before Arm knows the container. If the cgroup's own counter shows it too, it
  // counts once.
  void NoteOomKill(std::string_view cgroup_path, int64_t monotonic_ns);

  // Reads the metrics that the rules need, and returns the policies that fired.
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
  struct ReportedKill {
    std::string path;
    int64_t at_ns = 0;
  };
  // A container may start and be killed within a second, before Arm knows it.
  static constexpr int64_t kKeepReportedNs = 10'000'000'000;
  static constexpr size_t kMaxReportedKills = 256;

  using WatchedByPath = std::unordered_map<std::string, std::unique_ptr<Watched>>;  // root paths

  void ArmPolicies(const std::vector<ArmedPolicy>& policies);
  // Takes over captures by earlier policies with this name: another uid, or a previous process.
  void InheritByName(PolicyTrigger& policy);
  // Returns the containers of before that are gone: policies still point to them.
  WatchedByPath ArmContainers(const std::vector<WatchedContainer>& containers);
  void SetTargets(const std::vector<WatchedContainer>& containers);
  Watched* FindWatched(std::string_view cgroup_path) const;
  void TakeReportedKills();

  MetricSource& source_;
  WatchedByPath watched_;
  std::vector<std::unique_ptr<PolicyTrigger>> policies_;
  // By identity: policies that are no longer armed, but have captures in the last hour.
  std::unordered_map<std::string, std::unique_ptr<PolicyTrigger>> past_;
  std::unordered_map<std::string, std::vector<int64_t>> remembered_;  // by DisplayName
  std::vector<ReportedKill> reported_kills_;
  size_t policies_left_out_ = 0;
  size_t containers_left_out_ = 0;
};

}  // namespace firetower::daemon
