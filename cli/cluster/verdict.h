// SPDX-License-Identifier: Apache-2.0
// Decides why a policy profiles a pod or not. Uses the agents' rules on objects that the user may
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "k8s/document/node.h"
#include "k8s/pods/pod.h"
#include "k8s/policy/object.h"
#include "k8s/watch/object_fields.h"

namespace firetower::cli {

// The status of one policy, which the node's agent wrote into its ProfilingNode.
struct NodeRow {
  std::string uid;  // the policy's
  int64_t generation = 0;
  std::string state;
  std::string reason;
  std::string message;
};

enum class NodeReport {
  kUnread,  // the person may not read it, or the pod is on no node
  kAbsent,  // no agent ever reported from there
  kRead,
};

struct PodFacts {
  k8s::Pod pod;
  std::string phase;  // "Running"
  // Absent where the person may not read them.
  std::optional<k8s::Labels> namespace_labels;
  std::optional<k8s::Labels> node_labels;
  NodeReport report = NodeReport::kUnread;
  std::vector<NodeRow> rows;
};

enum class Answer { kNo, kYes, kUnknown };
// Returns "no", "yes" or "unknown".
std::string_view AnswerName(Answer answer);

struct Verdict {
  Answer answer = Answer::kNo;
  std::string why;                      // a clause for a person
  std::vector<std::string> containers;  // those that are profiled
};

Verdict Judge(const k8s::PolicyObject& object, const PodFacts& facts, int64_t now_ns);

// Converts objects of an API server.
k8s::FieldSet PodFactFields();
Result<PodFacts> PodFactsOf(const k8s::Node& pod);
k8s::Labels LabelsOf(const k8s::Node& object);
k8s::FieldSet NodeRowFields();
std::vector<NodeRow> NodeRowsOf(const k8s::Node& profiling_node);

}  // namespace firetower::cli
