// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/policy_status.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "k8s/client/exec_plugin.h"
#include "k8s/status/json_text.h"
#include "k8s/status/node_report.h"
#include "k8s/status/timestamp.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kStatuses = {"True", "False", "Unknown"};

ConditionStatus StatusOf(std::string_view name) {
  const auto found = std::find(kStatuses.begin(), kStatuses.end(), name);
  if (found == kStatuses.end()) return ConditionStatus::kUnknown;
  return static_cast<ConditionStatus>(found - kStatuses.begin());
}

Condition ReadCondition(const Node& item) {
  Condition condition;
  condition.type = TextAt(item, {"type"});
  condition.status = StatusOf(TextAt(item, {"status"}));
  condition.reason = TextAt(item, {"reason"});
  condition.message = TextAt(item, {"message"});
  condition.observed_generation = IntegerAt(item, {"observedGeneration"});
  condition.last_transition_ns = ParseTimestampNs(TextAt(item, {"lastTransitionTime"})).value_or(0);
  return condition;
}

Json ConditionJson(const Condition& condition) {
  return {{"type", condition.type},
          {"status", kStatuses[static_cast<size_t>(condition.status)]},
          {"observedGeneration", condition.observed_generation},
          {"lastTransitionTime", TimeText(condition.last_transition_ns)},
          {"reason", CutChars(condition.reason, kMaxReasonChars)},
          {"message", CutChars(condition.message, kMaxConditionMessageChars)}};
}

const std::vector<Node>& ItemsOf(const Node& status, std::string_view key) {
  static const std::vector<Node> kNone;
  const Node* list = status.Find(key);
  return list == nullptr ? kNone : list->items;
}

}  // namespace

const Condition* PolicyStatus::Find(std::string_view type) const {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

PolicyStatus ReadPolicyStatus(const Node& object) {
  PolicyStatus read;
  const Node* status = object.Find("status");
  if (status == nullptr) return read;
  read.observed_generation = IntegerAt(*status, {"observedGeneration"});
  for (const Node& item : ItemsOf(*status, "conditions"))
    read.conditions.push_back(ReadCondition(item));
  read.nodes = {IntegerAt(*status, {"nodes", "desired"}), IntegerAt(*status, {"nodes", "ready"}),
                IntegerAt(*status, {"nodes", "failed"}), IntegerAt(*status, {"nodes", "skipped"}),
                IntegerAt(*status, {"nodes", "stale"})};
  read.pods_matched = IntegerAt(*status, {"pods", "matched"});
  read.pods_profiled = IntegerAt(*status, {"pods", "profiled"});
  read.captures = IntegerAt(*status, {"captures", "total"});
  read.last_capture_ns = ParseTimestampNs(TextAt(*status, {"captures", "last"})).value_or(0);
  for (const Node& item : ItemsOf(*status, "failures")) {
    read.failures.push_back({std::string(TextAt(item, {"node"})),
                             std::string(TextAt(item, {"reason"})),
                             std::string(TextAt(item, {"message"}))});
  }
  return read;
}

std::string StatusPatchJson(const PolicyStatus& status, std::string_view resource_version) {
  Json conditions = Json::array();
  for (const Condition& condition : status.conditions)
    conditions.push_back(ConditionJson(condition));
  Json failures = Json::array();
  for (const NodeFailure& failure : status.failures) {
    failures.push_back({{"node", failure.node},
                        {"reason", CutChars(failure.reason, kMaxReasonChars)},
                        {"message", CutChars(failure.message, kMaxNodeMessageChars)}});
  }
  Json captures = {{"total", status.captures}};
  if (status.last_capture_ns > 0) captures["last"] = TimeText(status.last_capture_ns);
  const NodeCounts& nodes = status.nodes;
  Json body;
  body["metadata"]["resourceVersion"] = resource_version;
  body["status"] = {
      {"observedGeneration", status.observed_generation},
      {"conditions", std::move(conditions)},
      {"nodes",
       {{"desired", nodes.desired},
        {"ready", nodes.ready},
        {"failed", nodes.failed},
        {"skipped", nodes.skipped},
        {"stale", nodes.stale}}},
      {"pods", {{"matched", status.pods_matched}, {"profiled", status.pods_profiled}}},
      {"captures", std::move(captures)},
      {"failures", std::move(failures)}};
  return Text(body);
}

}  // namespace firetower::k8s
