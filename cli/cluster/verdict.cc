// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/verdict.h"

#include <fmt/core.h>

#include <charconv>

#include "base/clock.h"
#include "base/units.h"
#include "k8s/policy/match.h"
#include "k8s/policy/served.h"
#include "k8s/watch/object_meta.h"

namespace firetower::cli {
namespace {

Verdict No(std::string why) { return {Answer::kNo, std::move(why), {}}; }
Verdict Unknown(std::string_view why) { return {Answer::kUnknown, std::string(why), {}}; }

// Whether the policy is in force at all.
std::optional<Verdict> JudgePolicy(const k8s::PolicyObject& object, int64_t now_ns) {
  if (!object.errors.empty()) {
    const k8s::PolicyError& first = object.errors.front();
    return No(fmt::format("it is refused: {}{}{}", first.field, first.field.empty() ? "" : ": ",
                          first.message));
  }
  if (!object.policy) return No("it is being deleted");
  const k8s::PolicySpec& spec = object.policy->spec;
  if (spec.suspend) return No("it is suspended");
  if (spec.active_deadline_seconds) {
    const int64_t end_ns = object.policy->created_ns + *spec.active_deadline_seconds * kNsPerSecond;
    if (now_ns >= end_ns) {
      return No(fmt::format("it is complete: its activeDeadlineSeconds ended {} ago",
                            FormatDuration((now_ns - end_ns) / kNsPerSecond * kNsPerSecond)));
    }
  }
  const k8s::ServedReport served = k8s::Served(*object.policy);
  if (!served.served) return No(served.messages.front());
  return std::nullopt;
}

// The pod's place: whether it runs, and on a node of the policy's.
std::optional<Verdict> JudgePlace(const k8s::PolicySpec& spec, const PodFacts& facts) {
  if (facts.phase == "Succeeded" || facts.phase == "Failed") return No("the pod has ended");
  if (facts.pod.node.empty()) return No("the pod is not on a node yet");
  if (!facts.node_labels && spec.node_selector) {
    return Unknown("it has a nodeSelector, but you may not read nodes");
  }
  const k8s::Labels* labels = facts.node_labels ? &*facts.node_labels : nullptr;
  const k8s::TargetMatch node = k8s::MatchNode(spec, labels);
  if (node.match == k8s::Match::kNo) return No(fmt::format("{} ({})", node.why, facts.pod.node));
  return std::nullopt;
}

// Returns the selected containers, or the reason why none is selected.
Verdict JudgeContainers(const k8s::PolicySpec& spec, const k8s::Pod& pod) {
  Verdict verdict = No("none of its containers has started");
  for (const k8s::PodContainer& container : pod.containers) {
    if (container.ids.empty()) continue;
    const k8s::TargetMatch taken = k8s::MatchContainer(spec.targets, &pod, container.ids.front());
    if (taken.match == k8s::Match::kYes) {
      verdict.containers.push_back(container.name);
    } else if (verdict.containers.empty()) {
      verdict.why = fmt::format("{}: {}", container.name, taken.why);
    }
  }
  if (!verdict.containers.empty()) verdict.answer = Answer::kYes;
  return verdict;
}

std::string WhyYes(const k8s::PolicySpec& spec) {
  std::string why = "the targets include the pod";
  if (spec.mode != k8s::Mode::kGeneral) return why;
  const k8s::GeneralSpec general = k8s::EffectiveGeneral(spec);
  if (general.schedule == k8s::Schedule::kPeriodic) {
    why +=
        fmt::format("; for {} of every {}", FormatDuration(general.duration_seconds * kNsPerSecond),
                    FormatDuration(general.period_seconds * kNsPerSecond));
  }
  return why;
}

// Applies the agent's report, which overrides the other rules.
Verdict JudgeReport(const k8s::PolicyObject& object, const PodFacts& facts, Verdict taken) {
  const std::string& node = facts.pod.node;
  if (facts.report == NodeReport::kUnread) return taken;
  if (facts.report == NodeReport::kAbsent)
    return No(fmt::format("no agent reports from node {}: does firetower-agent run there?", node));
  for (const NodeRow& row : facts.rows) {
    if (row.uid != object.uid) continue;
    if (row.generation < object.generation)
      return Unknown(fmt::format("the agent on {} has not applied its last change yet", node));
    if (row.state == "Running" || row.state == "Armed") return taken;
    std::string why = fmt::format("{} on {}", row.state, node);
    if (!row.reason.empty()) why += fmt::format(", {}", row.reason);
    if (!row.message.empty()) why += fmt::format(": {}", row.message);
    return No(std::move(why));
  }
  return Unknown(fmt::format(
      "the targets include the pod, but the agent on {} has not reported the policy yet", node));
}

// Judges captures with scope Node, which hold every pod on the node of a target, except opted-out
// pods. nullopt: the policy has no such captures, or the pod is not in them.
std::optional<Verdict> JudgeNodeCapture(const k8s::PolicyObject& object, const PodFacts& facts) {
  const k8s::PolicySpec& spec = object.policy->spec;
  if (!k8s::CapturesNode(spec) || facts.pod.opted_out) return std::nullopt;
  if (facts.namespace_labels && k8s::OptsOut(*facts.namespace_labels)) return std::nullopt;
  if (JudgePlace(spec, facts)) return std::nullopt;
  if (facts.report == NodeReport::kUnread) {
    return Unknown(
        "the pod is not a target, but captures cover the whole node of a target, and you may not "
        "read profilingnodes");
  }
  // Reported from a node where nothing is a target only if the agent records all of it.
  for (const NodeRow& row : facts.rows) {
    if (row.uid != object.uid || row.state != "Armed") continue;
    Verdict verdict{Answer::kYes, "not a target, but captures cover the whole node", {}};
    for (const k8s::PodContainer& container : facts.pod.containers) {
      if (!container.ids.empty()) verdict.containers.push_back(container.name);
    }
    return verdict;
  }
  return std::nullopt;
}

int64_t IntegerOf(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string_view AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kNo:
      return "no";
    case Answer::kYes:
      return "yes";
    case Answer::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Verdict Judge(const k8s::PolicyObject& object, const PodFacts& facts, int64_t now_ns) {
  if (std::optional<Verdict> verdict = JudgePolicy(object, now_ns)) return *verdict;
  const k8s::ProfilingPolicy& policy = *object.policy;
  const k8s::Labels* labels = facts.namespace_labels ? &*facts.namespace_labels : nullptr;
  const k8s::TargetMatch pod = k8s::MatchPod(policy, &facts.pod, facts.pod.cgroup_uid, labels);
  if (pod.match == k8s::Match::kNo)
    return JudgeNodeCapture(object, facts).value_or(No(std::string(pod.why)));
  if (std::optional<Verdict> verdict = JudgePlace(policy.spec, facts)) return *verdict;
  Verdict taken = JudgeContainers(policy.spec, facts.pod);
  if (taken.answer == Answer::kNo) return taken;
  if (pod.match == k8s::Match::kOpen)
    return Unknown("it has a namespaceSelector, but you may not read namespaces");
  taken.why = WhyYes(policy.spec);
  return JudgeReport(object, facts, std::move(taken));
}

k8s::FieldSet PodFactFields() {
  k8s::FieldSet fields = k8s::PodFields();
  fields.Keep({"status", "phase"});
  return fields;
}

Result<PodFacts> PodFactsOf(const k8s::Node& pod) {
  PodFacts facts;
  ASSIGN_OR_RETURN(facts.pod, k8s::PodOf(pod));
  facts.phase = k8s::TextAt(pod, {"status", "phase"});
  return facts;
}

k8s::Labels LabelsOf(const k8s::Node& object) {
  k8s::Labels labels;
  const k8s::Node* metadata = object.Find("metadata");
  const k8s::Node* given = metadata == nullptr ? nullptr : metadata->Find("labels");
  if (given == nullptr) return labels;
  for (const k8s::NodeEntry& entry : given->entries) labels.emplace(entry.key, entry.value.text);
  return labels;
}

k8s::FieldSet NodeRowFields() { return {"policies"}; }

std::vector<NodeRow> NodeRowsOf(const k8s::Node& profiling_node) {
  std::vector<NodeRow> rows;
  const k8s::Node* policies = profiling_node.Find("policies");
  if (policies == nullptr) return rows;
  for (const k8s::Node& item : policies->items) {
    NodeRow row;
    row.uid = k8s::TextAt(item, {"uid"});
    row.generation = IntegerOf(k8s::TextAt(item, {"generation"}));
    row.state = k8s::TextAt(item, {"state"});
    row.reason = k8s::TextAt(item, {"reason"});
    row.message = k8s::TextAt(item, {"message"});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace firetower::cli
