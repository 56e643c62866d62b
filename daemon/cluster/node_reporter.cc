// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/node_reporter.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "k8s/policy/object.h"
#include "k8s/status/aggregate.h"
#include "k8s/status/api_call.h"
#include "k8s/watch/object_meta.h"

namespace firetower::daemon {
namespace {

using k8s::WriteEnd;

constexpr int64_t kLongestWaitNs = 60 * kNsPerSecond;
// The delay if a right is missing or the schema refuses the report: an operator must act first.
constexpr int64_t kRefusedNs = 60 * kNsPerSecond;
// The delay if the definition is missing, as for a watch that finds none (k8s::ReflectorOptions).
constexpr int64_t kAbsentNs = 12 * kNsPerSecond;
constexpr int64_t kCountNodesNs = 3600 * kNsPerSecond;
// A report is written again after this time, in case the object was deleted. An apply without a
// change writes nothing to etcd and wakes no watcher.
constexpr int64_t kAgainNs = 1800 * kNsPerSecond;

// Without the numbers that move by themselves.
k8s::NodeReport Still(k8s::NodeReport report) {
  for (k8s::PolicyRow& row : report.policies) {
    row.pods = row.profiled_pods = row.captures = row.last_capture_ns = 0;
  }
  return report;
}

}  // namespace

NodeReporter::NodeReporter(k8s::ApiServer& server, std::string node_name, MetricsRegistry& registry,
                           const Clock& clock)
    : server_(server),
      node_(std::move(node_name)),
      registry_(registry),
      clock_(clock),
      random_(HashText(node_, HashText("report"))),
      series_("firetower.dev/agent", node_) {}

void NodeReporter::Report(k8s::NodeReport report) {
  const std::shared_ptr<const k8s::NodeReport> before = wanted_.Get();
  if (before && *before == report) return;
  wanted_.Publish(std::make_shared<const k8s::NodeReport>(std::move(report)));
}

void NodeReporter::PostFiring(const k8s::ProfilingPolicy& policy, const k8s::Pod* pod,
                              std::string text) {
  // A policy from a file is not an object that could have Events.
  if (policy.uid.empty()) return;
  k8s::ObjectEvent what;
  what.regarding = {"firetower.dev/v1alpha1",
                    policy.cluster ? "ClusterProfilingPolicy" : "ProfilingPolicy",
                    policy.cluster ? "" : policy.namespace_name, policy.name, policy.uid};
  if (pod != nullptr) what.related = {"v1", "Pod", pod->namespace_name, pod->name, pod->uid};
  what.reason = "TriggerFired";
  what.action = "Capture";
  what.note = std::move(text);
  events_.TryPush(std::move(what));
}

int64_t NodeReporter::StepNs() {
  SendEvents();
  const std::shared_ptr<const k8s::NodeReport> report = wanted_.Get();
  if (report == nullptr) return kLongestWaitNs;
  CountNodes();
  Plan(report);
  if (due_ns_ && clock_.MonotonicNs() >= *due_ns_) Write(*report);
  if (!due_ns_) return kLongestWaitNs;
  return std::clamp<int64_t>(*due_ns_ - clock_.MonotonicNs(), kNsPerMs, kLongestWaitNs);
}

void NodeReporter::Plan(const std::shared_ptr<const k8s::NodeReport>& report) {
  const int64_t now_ns = clock_.MonotonicNs();
  if (report != planned_) {
    planned_ = report;
    const bool urgent = !written_ || Still(*written_) != Still(*report);
    const int64_t after_ns = now_ns + random_.Between(0, k8s::ReportSpanNs(nodes_));
    int64_t due_ns = urgent ? after_ns : std::max(after_ns, written_ns_ + kCountsNs);
    // A report that waits already is not delayed, because a report that changes all the time would
    // never be written.
    if (due_ns_) due_ns = std::min(due_ns, *due_ns_);
    due_ns_ = std::max(due_ns, not_before_ns_);
    if (written_ && *written_ == *report) due_ns_.reset();
  }
  if (!due_ns_) due_ns_ = written_ns_ + random_.Between(kAgainNs, 2 * kAgainNs);
}

void NodeReporter::Write(const k8s::NodeReport& report) {
  k8s::ApiRequest request;
  request.method = "PATCH";
  request.target = fmt::format("{}/profilingnodes/{}?fieldManager=firetower-agent&force=true",
                               k8s::kPolicyApi, node_);
  request.body = k8s::NodeReportJson(report);
  request.content_type = k8s::kApplyPatch;
  const k8s::WriteOutcome outcome = k8s::OutcomeOf(k8s::Call(server_, request));
  const int64_t now_ns = clock_.MonotonicNs();
  registry_.Add(MetricId::kKubeRequests, 1,
                {"apply", "profilingnodes", std::to_string(outcome.status)});
  const bool written = outcome.end == WriteEnd::kWritten;
  registry_.Set(MetricId::kKubeSynced, written ? 1 : 0, {"profilingnodes"});
  const std::shared_ptr<const Outcome> before = outcome_.Get();
  if (!written && (!before || before->status != outcome.status)) {
    LOG(kWarn, "this node's report is not written",
        {{"code", outcome.status}, {"error", outcome.message}});
  }
  outcome_.Publish(
      std::make_shared<const Outcome>(Outcome{written, outcome.status, outcome.message}));
  if (written) {
    written_ = report;
    written_ns_ = now_ns;
    due_ns_.reset();
    return;
  }
  due_ns_ = not_before_ns_ = now_ns + UntilNextTryNs(outcome);
}

int64_t NodeReporter::UntilNextTryNs(const k8s::WriteOutcome& outcome) {
  switch (outcome.end) {
    case WriteEnd::kRefused:
      return kRefusedNs + random_.Between(0, kRefusedNs);
    case WriteEnd::kGone:
      return kAbsentNs + random_.Between(0, kAbsentNs / 4);
    default:
      return std::max(outcome.retry_after_ns, random_.NextNs(clock_.MonotonicNs()));
  }
}

void NodeReporter::CountNodes() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (count_nodes_ns_ && now_ns < *count_nodes_ns_) return;
  count_nodes_ns_ = now_ns + kCountNodesNs + random_.Between(0, kCountNodesNs);
  k8s::ApiRequest request;
  // A page of one says how many there are beyond it (Kubernetes API, ListMeta.remainingItemCount).
  request.target = "/api/v1/nodes?limit=1";
  const Result<k8s::ApiAnswer> answer = k8s::Call(server_, request);
  registry_.Add(MetricId::kKubeRequests, 1,
                {"list", "nodes", std::to_string(answer ? answer->status : 0)});
  if (!answer || !answer->ok()) {
    count_nodes_ns_ = now_ns + kRefusedNs;
    return;
  }
  const Result<k8s::Node> list =
      k8s::ParseObject(answer->body, {"metadata.remainingItemCount", "kind"});
  if (list) nodes_ = 1 + k8s::IntegerAt(*list, {"metadata", "remainingItemCount"});
}

void NodeReporter::SendEvents() {
  const auto send = [&](const std::optional<k8s::ApiRequest>& request) {
    if (!request) return false;
    const Result<k8s::ApiAnswer> answer = k8s::Call(server_, *request);
    const int status = answer ? answer->status : 0;
    registry_.Add(MetricId::kKubeRequests, 1, {"create", "events", std::to_string(status)});
    event_outcome_.Publish(std::make_shared<const Outcome>(Outcome{
        answer && answer->ok(), status, answer ? answer->message : answer.error().message()}));
    return true;
  };
  while (std::optional<k8s::ObjectEvent> what = events_.TryPop())
    send(series_.Take(*what, clock_.MonotonicNs(), clock_.WallNs()));
  while (send(series_.TakeDue(clock_.MonotonicNs()))) {
  }
  const uint64_t dropped = events_.dropped();
  if (dropped == reported_dropped_) return;
  registry_.SetTotal(MetricId::kKubeObjectsSkipped, static_cast<double>(dropped),
                     {"events", "queue_full"});
  reported_dropped_ = dropped;
}

std::optional<Check> NodeReporter::GetEventCheck() const {
  const std::shared_ptr<const Outcome> outcome = event_outcome_.Get();
  if (outcome == nullptr || outcome->written) return std::nullopt;
  Check check{"kube-events", CheckStatus::kWarn, "", ""};
  check.message = fmt::format(
      "the last Event was not written: {}; captures are taken, but `kubectl describe` does not "
      "show them",
      outcome->message);
  check.fix = outcome->status == 403
                  ? "grant create and patch of events (events.k8s.io) to the daemon's account"
                  : "check that the API server runs and can be reached from here";
  return check;
}

std::optional<Check> NodeReporter::GetCheck() const {
  const std::shared_ptr<const Outcome> outcome = outcome_.Get();
  if (outcome == nullptr) return std::nullopt;
  Check check{"kube-report", CheckStatus::kOk, "", ""};
  if (outcome->written) {
    check.message = fmt::format("ProfilingNode {} is up to date", node_);
    return check;
  }
  check.status = CheckStatus::kWarn;
  check.message = fmt::format(
      "ProfilingNode {} is not written: {}; policies are followed, but their status does not count "
      "this node",
      node_, outcome->message);
  check.fix = "check that the API server runs and can be reached from here";
  if (outcome->status == 403) {
    check.fix =
        "grant create and patch of profilingnodes to the daemon's account; it writes the object "
        "with the name of its node, with the token of a pod on that node";
  }
  if (outcome->status == 404) check.fix = "install the CustomResourceDefinitions";
  return check;
}

}  // namespace firetower::daemon
