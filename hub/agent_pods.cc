// SPDX-License-Identifier: Apache-2.0
#include "hub/agent_pods.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "k8s/watch/object_meta.h"

namespace firetower::hub {

k8s::Resource AgentPodsOf(std::string_view namespace_name) {
  k8s::Resource resource;
  resource.name = "pods";
  resource.path = fmt::format("/api/v1/namespaces/{}/pods", namespace_name);
  resource.label_selector = "app.kubernetes.io/name=firetower,app.kubernetes.io/component=agent";
  resource.fields = {"metadata.deletionTimestamp", "spec.nodeName", "status.conditions.type",
                     "status.conditions.status"};
  return resource;
}

Result<AgentPod> ReadAgentPod(const k8s::Node& object) {
  AgentPod pod;
  pod.node = k8s::TextAt(object, {"spec", "nodeName"});
  if (!k8s::TextAt(object, {"metadata", "deletionTimestamp"}).empty()) return pod;
  const k8s::Node* status = object.Find("status");
  const k8s::Node* conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) return pod;
  for (const k8s::Node& condition : conditions->items) {
    if (k8s::TextAt(condition, {"type"}) == "Ready")
      pod.ready = k8s::TextAt(condition, {"status"}) == "True";
  }
  return pod;
}

void AgentLife::Take(std::shared_ptr<const AgentPodStore::Objects> pods) {
  if (pods == pods_) return;
  pods_ = std::move(pods);
  with_pod_.clear();
  ready_.clear();
  if (!pods_) return;
  for (const auto& [key, entry] : *pods_) {
    if (entry.value->node.empty()) continue;  // not scheduled yet
    with_pod_.insert(entry.value->node);
    if (entry.value->ready) ready_.insert(entry.value->node);
  }
}

std::vector<std::string> AgentLife::Look(const std::vector<std::string>& reported, int64_t now_ns) {
  std::set<std::string, std::less<>> nodes = with_pod_;
  if (pods_) nodes.insert(reported.begin(), reported.end());
  std::map<std::string, int64_t, std::less<>> away;
  std::set<std::string, std::less<>> down;
  for (const std::string& node : nodes) {
    if (ready_.contains(node)) continue;
    const auto before = away_since_ns_.find(node);
    const int64_t since_ns = before == away_since_ns_.end() ? now_ns : before->second;
    away.emplace(node, since_ns);
    if (now_ns - since_ns >= kGraceNs) down.insert(node);
  }
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(down, down_, std::back_inserter(changed));
  away_since_ns_ = std::move(away);
  down_ = std::move(down);
  return changed;
}

}  // namespace firetower::hub
