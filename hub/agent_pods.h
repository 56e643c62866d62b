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

// The agents' pods of a namespace, as k8s/manifests/agent.yaml labels them.
k8s::Resource AgentPodsOf(std::string_view namespace_name);
Result<AgentPod> ReadAgentPod(const k8s::Node& object);

// Which nodes have no agent that runs. A report says what an agent did when it last wrote; an agent
// that is gone writes no more, but its kubelet says so of its pod. Belongs to one thread. Holds a
// name for each node.
class AgentLife {
 public:
  // A pod is replaced, or restarts, in less; and within a minute a status is to tell what is so.
  static constexpr int64_t kGraceNs = 45 * kNsPerSecond;

  // nullptr: nothing is known, and none is down.
  void Take(std::shared_ptr<const AgentPodStore::Objects> pods);
  // Looks at these nodes, whose agents reported as such pods, and at those that have one; returns
  // which have gone down or come up since the last look.
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
