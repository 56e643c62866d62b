// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/node_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "k8s/client/exec_plugin.h"
#include "k8s/policy/object.h"
#include "k8s/status/json_text.h"
#include "k8s/status/timestamp.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kStates = {"Running", "Armed",      "Failed",
                                                     "Skipped", "Overridden", "Complete"};
constexpr std::string_view kNamespaced = "ProfilingPolicy";
constexpr std::string_view kClusterWide = "ClusterProfilingPolicy";

Json RowJson(const PolicyRow& row) {
  Json json = {{"kind", row.cluster ? kClusterWide : kNamespaced},
               {"namespace", row.namespace_name},
               {"name", row.name},
               {"uid", row.uid},
               {"generation", row.generation},
               {"state", PolicyStateName(row.state)}};
  if (!row.reason.empty()) json["reason"] = CutChars(row.reason, kMaxReasonChars);
  if (!row.message.empty()) json["message"] = CutChars(row.message, kMaxNodeMessageChars);
  json["pods"] = std::clamp<int64_t>(row.pods, 0, kMaxReportedPods);
  json["profiledPods"] = std::clamp<int64_t>(row.profiled_pods, 0, kMaxReportedPods);
  json["captures"] = std::clamp<int64_t>(row.captures, 0, kMaxReportedCaptures);
  if (row.last_capture_ns > 0) json["lastCapture"] = TimeText(row.last_capture_ns);
  return json;
}

Json ConditionJson(const NodeCondition& condition) {
  return {{"type", condition.type},
          {"status", condition.holds ? "True" : "False"},
          {"reason", CutChars(condition.reason, kMaxReasonChars)},
          {"message", CutChars(condition.message, kMaxNodeMessageChars)},
          {"lastTransitionTime", TimeText(condition.last_transition_ns)}};
}

Json AgentJson(const AgentFacts& agent) {
  Json json = {{"version", CutChars(agent.version, 64)}};
  if (!agent.pod_namespace.empty()) json["podNamespace"] = CutChars(agent.pod_namespace, 63);
  if (!agent.boot_id.empty()) json["bootID"] = CutChars(agent.boot_id, 36);
  if (!agent.kernel_version.empty()) json["kernelVersion"] = CutChars(agent.kernel_version, 64);
  if (!agent.cgroup_mode.empty()) json["cgroupMode"] = agent.cgroup_mode;
  Json features = Json::array();
  for (const std::string& feature : agent.features) {
    if (features.size() < 32) features.push_back(CutChars(feature, 32));
  }
  json["features"] = std::move(features);
  return json;
}

std::optional<PolicyState> StateOf(std::string_view name) {
  const auto found = std::find(kStates.begin(), kStates.end(), name);
  if (found == kStates.end()) return std::nullopt;
  return static_cast<PolicyState>(found - kStates.begin());
}

std::optional<PolicyRow> ReadRow(const Node& item) {
  const std::optional<PolicyState> state = StateOf(TextAt(item, {"state"}));
  PolicyRow row;
  row.uid = TextAt(item, {"uid"});
  if (!state || row.uid.empty()) return std::nullopt;
  row.cluster = TextAt(item, {"kind"}) == kClusterWide;
  row.namespace_name = TextAt(item, {"namespace"});
  row.name = TextAt(item, {"name"});
  row.generation = IntegerAt(item, {"generation"});
  row.state = *state;
  row.reason = TextAt(item, {"reason"});
  row.message = TextAt(item, {"message"});
  // The schema's bounds hold here too: these are summed up.
  row.pods = std::clamp<int64_t>(IntegerAt(item, {"pods"}), 0, kMaxReportedPods);
  row.profiled_pods = std::clamp<int64_t>(IntegerAt(item, {"profiledPods"}), 0, kMaxReportedPods);
  row.captures = std::clamp<int64_t>(IntegerAt(item, {"captures"}), 0, kMaxReportedCaptures);
  row.last_capture_ns = ParseTimestampNs(TextAt(item, {"lastCapture"})).value_or(0);
  // A status holds no fraction of a second; the wanted one would never match
  // it.
  row.last_capture_ns -= row.last_capture_ns % kNsPerSecond;
  return row;
}

}  // namespace

std::string_view PolicyStateName(PolicyState state) { return kStates[static_cast<size_t>(state)]; }

std::string NodeReportJson(const NodeReport& report) {
  Json json = {{"apiVersion", "firetower.dev/v1alpha1"}, {"kind", "ProfilingNode"}};
  json["metadata"]["name"] = report.node;
  if (!report.node_uid.empty()) {
    json["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "v1"},
                                                        {"kind", "Node"},
                                                        {"name", report.node},
                                                        {"uid", report.node_uid}}});
  }
  json["agent"] = AgentJson(report.agent);
  Json conditions = Json::array();
  for (const NodeCondition& condition : report.conditions) {
    if (conditions.size() < kMaxReportedConditions) conditions.push_back(ConditionJson(condition));
  }
  json["conditions"] = std::move(conditions);
  std::vector<const PolicyRow*> rows;
  for (const PolicyRow& row : report.policies) rows.push_back(&row);
  const auto failed = [](const PolicyRow* row) { return row->state == PolicyState::kFailed; };
  if (rows.size() > kMaxReportedPolicies) std::stable_partition(rows.begin(), rows.end(), failed);
  const size_t shown = std::min(rows.size(), kMaxReportedPolicies);
  Json policies = Json::array();
  for (size_t i = 0; i < shown; ++i) policies.push_back(RowJson(*rows[i]));
  json["policies"] = std::move(policies);
  json["policiesOmitted"] = rows.size() - shown;
  return Text(json);
}

FieldSet NodeReportFields() { return {"agent.version", "agent.podNamespace", "policies"}; }

Result<NodeReport> ReadNodeReport(const Node& object) {
  NodeReport report;
  report.node = TextAt(object, {"metadata", "name"});
  if (report.node.empty()) return Error(ErrorCode::kCorrupt, "a ProfilingNode without a name");
  report.agent.version = TextAt(object, {"agent", "version"});
  report.agent.pod_namespace = TextAt(object, {"agent", "podNamespace"});
  const Node* rows = object.Find("policies");
  if (rows == nullptr) return report;
  for (const Node& item : rows->items) {
    if (report.policies.size() == kMaxReportedPolicies) break;
    if (std::optional<PolicyRow> row = ReadRow(item)) report.policies.push_back(*std::move(row));
  }
  return report;
}

}  // namespace firetower::k8s
