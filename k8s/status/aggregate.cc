// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/clock.h"
#include "k8s/client/exec_plugin.h"
#include "k8s/policy/served.h"
#include "k8s/status/json_text.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kUnknownClusterNodes = 1000;
constexpr int64_t kSmallClusterNodes = 10;
constexpr int64_t kReportsPerSecond = 50;

// A condition before it has a time.
struct Verdict {
  ConditionStatus status;
  std::string reason;
  std::string message;
};

Verdict True(std::string_view reason, std::string message = "") {
  return {ConditionStatus::kTrue, std::string(reason), std::move(message)};
}
Verdict False(std::string_view reason, std::string message = "") {
  return {ConditionStatus::kFalse, std::string(reason), std::move(message)};
}

// Sum of the rows of one policy.
struct Tally {
  NodeCounts nodes;
  int64_t overridden = 0;
  int64_t pods = 0;
  int64_t profiled = 0;
  int64_t captures = 0;
  int64_t last_capture_ns = 0;
  std::map<std::string, int64_t> reasons;  // of nodes where something is wrong
  std::vector<NodeFailure> failures;
};

// It runs there, but not as it was asked for.
bool IsCut(const PolicyRow& row) {
  return (row.state == PolicyState::kRunning || row.state == PolicyState::kArmed) &&
         (row.reason == "BudgetExceeded" || row.reason == "StoreUnreachable" ||
          row.reason == "MissingCapability" || row.reason == "ExceedsClusterCeiling" ||
          row.reason == "MetricUnavailable" || row.reason == "OptOutsUnknown" ||
          row.reason == "MissingHostPID");
}

// Tells whether the schema takes the text as a condition's reason; a row may have any text.
bool IsReason(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= kMaxReasonChars && letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

void AddFailure(std::string_view node, const std::string& reason, std::string_view message,
                Tally& tally) {
  ++tally.reasons[reason];
  if (tally.failures.size() < kMaxFailures)
    tally.failures.push_back({std::string(node), reason, CutChars(message, kMaxNodeMessageChars)});
}

void Count(const ReportedRow& one, int64_t generation, Tally& tally) {
  const PolicyRow& row = *one.row;
  tally.captures += row.captures;
  tally.last_capture_ns = std::max(tally.last_capture_ns, row.last_capture_ns);
  if (row.state == PolicyState::kSkipped && row.generation == generation) {
    ++tally.nodes.skipped;
    return;
  }
  ++tally.nodes.desired;
  tally.pods += row.pods;
  if (one.agent_down) {
    ++tally.nodes.stale;
    AddFailure(one.node, "AgentNotReady",
               "the node's agent does not run or is not ready: check its pod", tally);
    return;
  }
  tally.profiled += row.profiled_pods;
  if (row.generation != generation) {
    ++tally.nodes.stale;
    return;
  }
  if (row.state == PolicyState::kFailed) {
    ++tally.nodes.failed;
  } else if (row.state == PolicyState::kOverridden) {
    ++tally.overridden;
  } else {
    ++tally.nodes.ready;
  }
  if (row.state != PolicyState::kFailed && !IsCut(row)) return;
  AddFailure(one.node, IsReason(row.reason) ? row.reason : "Failed", row.message, tally);
}

Tally CountRows(const WatchedPolicy& policy, std::span<const ReportedRow> rows) {
  // By name, so that every writer takes the same sample of failures.
  std::vector<ReportedRow> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const ReportedRow& a, const ReportedRow& b) { return a.node < b.node; });
  Tally tally;
  for (const ReportedRow& one : sorted) Count(one, policy.object.generation, tally);
  return tally;
}

Verdict AcceptedOf(const WatchedPolicy& policy) {
  if (!policy.object.errors.empty()) {
    std::vector<std::string> texts;
    for (const PolicyError& error : policy.object.errors)
      texts.push_back(error.field.empty() ? error.message : error.field + ": " + error.message);
    const std::string& field = policy.object.errors.front().field;
    std::string_view reason = "Invalid";
    if (field.find("elector") != std::string::npos) reason = "InvalidSelector";
    if (field.starts_with("spec.profiles") && field.ends_with(".type"))
      reason = "UnsupportedProfileType";
    return False(reason, fmt::format("{}", fmt::join(texts, "; ")));
  }
  if (!policy.object.policy) return True(kAcceptedCondition);
  ServedReport served = Served(*policy.object.policy);
  for (const std::string& field : policy.object.ignored_fields) {
    if (field != "status") served.messages.push_back(field + " is not known to this version");
  }
  std::string message = fmt::format("{}", fmt::join(served.messages, "; "));
  if (served.served) return True(kAcceptedCondition, std::move(message));
  return False("UnsupportedProfileType", std::move(message));
}

std::string_view MostCommon(const std::map<std::string, int64_t>& reasons) {
  return std::max_element(reasons.begin(), reasons.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Verdict NobodyTold(const PolicyMoment& moment) {
  if (moment.no_agent_runs)
    return False("AgentNotReady", "no agent runs and is ready: check the agents' pods");
  return False("NoTargets", moment.agents_down ? "no node reports a matching pod, but some agents "
                                                 "are not ready and cannot report: check their pods"
                                               : "no node runs a matching pod");
}

Verdict WithoutNodes(const WatchedPolicy& policy, const Tally& tally, const PolicyMoment& moment) {
  if (moment.no_targets) {
    if (tally.nodes.skipped == 0) return NobodyTold(moment);
    return False(
        "NoTargets",
        fmt::format("nodeSelector matches none of the {} nodes that run pods of its targets",
                    tally.nodes.skipped));
  }
  // Pods that are replaced may leave it without any for a moment.
  const Condition* before = policy.status.Find(kProgrammedCondition);
  if (before != nullptr && before->observed_generation == policy.object.generation)
    return {before->status, before->reason, before->message};
  return False("Reconciling", "no node has reported yet");
}

Verdict ProgrammedOf(const WatchedPolicy& policy, const Tally& tally, const PolicyMoment& moment) {
  const NodeCounts& nodes = tally.nodes;
  if (nodes.desired == 0) return WithoutNodes(policy, tally, moment);
  std::string counts = fmt::format("{} of {} nodes run generation {}", nodes.ready, nodes.desired,
                                   policy.object.generation);
  if (nodes.ready == nodes.desired) {
    const Condition* before = policy.status.Find(kProgrammedCondition);
    const bool was = before != nullptr && before->status == ConditionStatus::kTrue &&
                     before->observed_generation == policy.object.generation;
    return moment.settled || was ? True(kProgrammedCondition, std::move(counts))
                                 : False("Reconciling", "not every node has reported yet");
  }
  const bool answered = nodes.stale == 0 ? moment.settled : moment.overdue;
  if (!answered) return False("Reconciling", std::move(counts));
  if (tally.overridden == nodes.desired)
    return False("Overridden", "policies with precedence decide on all its pods");
  if (nodes.ready > 0) return False("PartiallyProgrammed", std::move(counts));
  if (!tally.reasons.empty()) return False(MostCommon(tally.reasons), std::move(counts));
  return False(tally.overridden > 0 ? "PartiallyProgrammed" : "Reconciling", std::move(counts));
}

Verdict DegradedOf(const Tally& tally) {
  if (tally.reasons.empty()) return False("AsExpected");
  int64_t nodes = 0;
  for (const auto& [reason, count] : tally.reasons) nodes += count;
  const NodeFailure& first = tally.failures.front();
  return True(MostCommon(tally.reasons),
              fmt::format("{} of {} nodes, such as {}: {}", nodes, tally.nodes.desired, first.node,
                          first.message));
}

Verdict ReadyOf(const Verdict& accepted, const Verdict& programmed, const Verdict& degraded,
                bool complete) {
  if (accepted.status != ConditionStatus::kTrue) return False(accepted.reason, accepted.message);
  if (complete) return True("Complete");
  if (programmed.status != ConditionStatus::kTrue)
    return False(programmed.reason, programmed.message);
  if (degraded.status == ConditionStatus::kTrue) return False(degraded.reason, degraded.message);
  return True("Ready");
}

class ConditionList {
 public:
  ConditionList(const WatchedPolicy& policy, int64_t wall_ns)
      : policy_(policy), now_ns_(wall_ns - wall_ns % kNsPerSecond) {}

  void Add(std::string_view type, const Verdict& verdict) {
    const Condition* before = policy_.status.Find(type);
    const bool same = before != nullptr && before->status == verdict.status;
    conditions_.push_back({std::string(type), verdict.status, verdict.reason,
                           CutChars(verdict.message, kMaxConditionMessageChars),
                           policy_.object.generation, same ? before->last_transition_ns : now_ns_});
  }
  std::vector<Condition> TakeWithOthers() && {
    const size_t own = conditions_.size();
    for (const Condition& other : policy_.status.conditions) {
      const auto same = [&](const Condition& mine) { return mine.type == other.type; };
      if (std::none_of(conditions_.begin(), conditions_.begin() + static_cast<ptrdiff_t>(own),
                       same) &&
          conditions_.size() < kMaxConditions)
        conditions_.push_back(other);
    }
    return std::move(conditions_);
  }

 private:
  const WatchedPolicy& policy_;
  const int64_t now_ns_;
  std::vector<Condition> conditions_;
};

}  // namespace

FieldSet WatchedPolicyFields() {
  return {"metadata.generation", "metadata.creationTimestamp", "metadata.deletionTimestamp", "spec",
          "status"};
}

Result<WatchedPolicy> ReadWatchedPolicy(const Node& object, bool cluster) {
  WatchedPolicy policy;
  ASSIGN_OR_RETURN(policy.object, ReadPolicyObject(object, cluster));
  policy.cluster = cluster;
  policy.namespace_name = TextAt(object, {"metadata", "namespace"});
  policy.name = TextAt(object, {"metadata", "name"});
  policy.resource_version = MetaOf(object).resource_version;
  policy.created_ns =
      ParseTimestampNs(TextAt(object, {"metadata", "creationTimestamp"})).value_or(0);
  policy.deleting = !TextAt(object, {"metadata", "deletionTimestamp"}).empty();
  policy.status = ReadPolicyStatus(object);
  return policy;
}

int64_t ReportSpanNs(int64_t nodes) {
  if (nodes <= 0) nodes = kUnknownClusterNodes;
  if (nodes <= kSmallClusterNodes) return kNsPerSecond / 10;
  return std::max(kNsPerSecond, nodes * kNsPerSecond / kReportsPerSecond);
}

int64_t DeadlineNs(const WatchedPolicy& policy) {
  if (!policy.object.policy || policy.created_ns == 0) return kNever;
  const std::optional<int64_t>& seconds = policy.object.policy->spec.active_deadline_seconds;
  return seconds ? policy.created_ns + *seconds * kNsPerSecond : kNever;
}

int64_t DeletionNs(const WatchedPolicy& policy) {
  const int64_t deadline_ns = DeadlineNs(policy);
  if (deadline_ns == kNever) return kNever;
  const std::optional<int64_t>& ttl = policy.object.policy->spec.ttl_seconds_after_finished;
  return ttl ? deadline_ns + *ttl * kNsPerSecond : kNever;
}

PolicyStatus Aggregate(const WatchedPolicy& policy, std::span<const ReportedRow> rows,
                       const PolicyMoment& moment) {
  const Tally tally = CountRows(policy, rows);
  const bool complete = moment.wall_ns >= DeadlineNs(policy);
  const bool suspended = policy.object.policy && policy.object.policy->spec.suspend;
  const Verdict accepted = AcceptedOf(policy);
  Verdict programmed = ProgrammedOf(policy, tally, moment);
  if (suspended) programmed = False("Suspended", "spec.suspend is true");
  if (complete) programmed = False("Complete", "its activeDeadlineSeconds passed");
  if (accepted.status != ConditionStatus::kTrue) programmed = False("NotAccepted");
  const Verdict degraded = complete || suspended ? False("AsExpected") : DegradedOf(tally);

  PolicyStatus status;
  status.observed_generation = policy.object.generation;
  ConditionList conditions(policy, moment.wall_ns);
  conditions.Add(kAcceptedCondition, accepted);
  conditions.Add(kProgrammedCondition, programmed);
  conditions.Add(kDegradedCondition, degraded);
  conditions.Add(kCompleteCondition, complete ? True("DeadlineExceeded") : False("Active"));
  conditions.Add(kReadyCondition, ReadyOf(accepted, programmed, degraded, complete));
  status.conditions = std::move(conditions).TakeWithOthers();
  status.nodes = tally.nodes;
  status.pods_matched = tally.pods;
  status.pods_profiled = tally.profiled;
  // Rows disappear with their pods; the number of captures must not fall.
  status.captures = std::max(tally.captures, policy.status.captures);
  status.last_capture_ns = std::max(tally.last_capture_ns, policy.status.last_capture_ns);
  if (degraded.status == ConditionStatus::kTrue) status.failures = tally.failures;
  return status;
}

}  // namespace firetower::k8s
