// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "k8s/watch/object_store.h"
#include "k8s/watch/reflector.h"

namespace firetower::hub {

struct AgentPod {
  std::string node;
  bool ready = false;  // and not on its way out
};

using AgentPodStore = k8s::ObjectStore<AgentPod>;

// Selects the agents' pods of a namespace, by the labels of k8s/manifests/agent.yaml.
k8s::Resource AgentPodsOf(std::string_view namespace_name);
Result<AgentPod> ReadAgentPod(const k8s::Node& object);

// Finds the nodes without a running agent. A report shows what an agent did when it last wrote; an
// agent that is gone writes no more, but its kubelet updates the pod's status. Belongs to one
// thread. Holds a name for each node.
class AgentLife {
 public:
  // A pod is replaced, or restarts, in less time; and a status must be right within a minute.
  static constexpr int64_t kGraceNs = 45 * kNsPerSecond;

  // nullptr: nothing is known, so no node counts as down.
  void Take(std::shared_ptr<const AgentPodStore::Objects> pods);
  // Checks these nodes, whose agents reported as such pods, and the nodes that have such a pod.
  // Returns the nodes that have gone down or come up since the last call.
  std::vector<std::string> Look(const std::vector<std::string>& reported, int64_t now_ns);
  bool IsDown(std::string_view node) const { return down_.contains(node); }
  bool AnyDown() const { return !down_.empty(); }
  bool AnyReady() const { return !ready_.empty(); }

 private:
  std::shared_ptr<const AgentPodStore::Objects> pods_;
  std::set<std::string, std::less<>> with_pod_;  // nodes
  std::set<std::string, std::less<>> ready_;
  std::set<std::string, std::less<>> down_;
  std::map<std::string, int64_t, std::less<>> away_since_ns_;
};

}  // namespace firetower::hub
