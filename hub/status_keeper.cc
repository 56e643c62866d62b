// SPDX-License-Identifier: Apache-2.0
#include "hub/status_keeper.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "k8s/policy/object.h"
#include "k8s/status/api_call.h"

namespace firetower::hub {
namespace {

using k8s::PolicyStatus;
using k8s::StatusChange;
using k8s::WatchedPolicy;
using k8s::WriteEnd;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
// From an agent's report to this hub's view of it.
constexpr int64_t kOnTheWayNs = kNsPerSecond;
// An agent whose API server was busy comes back within so long (k8s::Backoff).
constexpr int64_t kSlowAgentNs = 30 * kNsPerSecond;
// A version that is not the newest: the watch brings that one.
constexpr int64_t kConflictNs = kNsPerSecond;
// The delay after a refusal, because a right is missing or the server rejects the status: an
// operator must act first.
constexpr int64_t kRefusedNs = 60 * kNsPerSecond;
constexpr int64_t kLongestWaitNs = kNsPerSecond;
// Goes through all nodes.
constexpr int64_t kLookAtAgentsNs = kNsPerSecond;

}  // namespace

StatusKeeper::StatusKeeper(Parts parts)
    : parts_(std::move(parts)),
      backoff_(HashText(parts_.instance)),
      events_("firetower.dev/hub", parts_.instance) {}

void StatusKeeper::Take(const HubView& view) {
  agents_.Take(view.agent_pods);
  TakeKind(view.policies, false);
  TakeKind(view.cluster_policies, true);
  for (const std::string& uid : index_.Apply(view.reports)) {
    const auto found = tracked_.find(uid);
    if (found != tracked_.end()) found->second.look_again_ns = 0;
  }
}

void StatusKeeper::TakeKind(const std::shared_ptr<const PolicyStore::Objects>& objects,
                            bool cluster) {
  if (objects == seen_[cluster] || objects == nullptr) return;
  seen_[cluster] = objects;
  const int64_t now_ns = parts_.clock.MonotonicNs();
  std::set<std::string> present;
  for (const auto& [key, entry] : *objects) {
    present.insert(entry.uid);
    Tracked& tracked = tracked_[entry.uid];
    if (tracked.policy == entry.value) continue;
    const bool same = tracked.policy != nullptr &&
                      tracked.policy->object.generation == entry.value->object.generation;
    if (!same) {
      tracked.generation_since_ns = now_ns;
      tracked.without_rows_ns.reset();
    }
    tracked.policy = entry.value;
    tracked.look_again_ns = 0;
  }
  for (auto one = tracked_.begin(); one != tracked_.end();) {
    if (one->second.policy->cluster == cluster && !present.contains(one->first)) {
      budget_.Forget(one->first);
      one = tracked_.erase(one);
    } else {
      ++one;
    }
  }
}

void StatusKeeper::BeginTerm() {
  const int64_t now_ns = parts_.clock.MonotonicNs();
  budget_ = {};
  for (auto& [uid, tracked] : tracked_) {
    tracked.base_version.clear();
    tracked.generation_since_ns = now_ns;
    tracked.without_rows_ns.reset();
    tracked.look_again_ns = 0;
    tracked.captures.clear();
    tracked.captures_total.reset();
  }
}

WatchedPolicy StatusKeeper::Current(const Tracked& tracked) const {
  WatchedPolicy current = *tracked.policy;
  if (current.resource_version == tracked.base_version) {
    current.resource_version = tracked.written_version;
    current.status = tracked.written;
  }
  return current;
}

void StatusKeeper::LookAtAgents() {
  const int64_t now_ns = parts_.clock.MonotonicNs();
  if (now_ns < look_at_agents_ns_) return;
  look_at_agents_ns_ = now_ns + kLookAtAgentsNs;
  const std::vector<std::string> changed =
      agents_.Look(index_.NodesOfPodsIn(parts_.agent_namespace), now_ns);
  for (const std::string& node : changed) {
    for (const std::string& uid : index_.PoliciesOf(node)) {
      const auto found = tracked_.find(uid);
      if (found != tracked_.end()) found->second.look_again_ns = 0;
    }
  }
  if (changed.empty()) return;
  // The reason why no node reports a policy may have changed.
  for (auto& [uid, tracked] : tracked_) {
    if (tracked.without_rows_ns) tracked.look_again_ns = 0;
  }
}

PolicyStatus StatusKeeper::Wanted(Tracked& tracked, const WatchedPolicy& current) {
  const int64_t now_ns = parts_.clock.MonotonicNs();
  std::vector<k8s::ReportedRow> rows = index_.RowsOf(current.object.uid);
  for (k8s::ReportedRow& one : rows) one.agent_down = agents_.IsDown(one.node);
  const bool desired = std::any_of(rows.begin(), rows.end(), [&](const k8s::ReportedRow& one) {
    return one.row->state != k8s::PolicyState::kSkipped ||
           one.row->generation != current.object.generation;
  });
  if (desired) {
    tracked.without_rows_ns.reset();
  } else if (!tracked.without_rows_ns) {
    tracked.without_rows_ns = now_ns;
  }
  const int64_t span_ns =
      k8s::ReportSpanNs(static_cast<int64_t>(std::max<size_t>(index_.nodes(), 1)));
  const int64_t settled_ns = tracked.generation_since_ns + span_ns + kOnTheWayNs;
  const int64_t alone_ns = tracked.without_rows_ns
                               ? std::max(*tracked.without_rows_ns + k8s::kNoTargetsNs, settled_ns)
                               : kNever;
  const int64_t overdue_ns = settled_ns + span_ns + kSlowAgentNs;
  k8s::PolicyMoment moment{parts_.clock.WallNs(), now_ns >= settled_ns,
                           now_ns >= overdue_ns,  now_ns >= alone_ns,
                           agents_.AnyDown(),     agents_.AnyDown() && !agents_.AnyReady()};
  tracked.look_again_ns = kNever;
  for (const int64_t at_ns : {settled_ns, overdue_ns, alone_ns}) {
    if (at_ns > now_ns) tracked.look_again_ns = std::min(tracked.look_again_ns, at_ns);
  }
  const int64_t deadline_ns = k8s::DeadlineNs(current);
  if (deadline_ns != kNever && deadline_ns > moment.wall_ns) {
    tracked.look_again_ns =
        std::min(tracked.look_again_ns, now_ns + (deadline_ns - moment.wall_ns));
  }
  PolicyStatus wanted = k8s::Aggregate(current, rows, moment);
  wanted.captures = CountCaptures(tracked, rows, wanted.captures);
  return wanted;
}

int64_t StatusKeeper::CountCaptures(Tracked& tracked, const std::vector<k8s::ReportedRow>& rows,
                                    int64_t at_least) {
  int64_t gained = 0;
  for (const k8s::ReportedRow& one : rows) {
    const int64_t now = one.row->captures;
    const auto known = tracked.captures.find(one.node);
    if (known == tracked.captures.end()) {
      gained += now;
      if (now > 0) tracked.captures.emplace(one.node, now);
    } else {
      gained += now >= known->second ? now - known->second : now;
      known->second = now;
    }
  }
  // The first total of a term comes from the status that the last leader wrote.
  const int64_t total = tracked.captures_total ? *tracked.captures_total + gained : 0;
  tracked.captures_total = std::max(total, at_least);
  return *tracked.captures_total;
}

void StatusKeeper::Judge(const std::string& uid, Tracked& tracked) {
  const WatchedPolicy current = Current(tracked);
  const PolicyStatus wanted = Wanted(tracked, current);
  const StatusChange change =
      current.deleting ? StatusChange::kNone : k8s::ChangeOf(current.status, wanted);
  budget_.Want(uid, change, parts_.clock.MonotonicNs());
}

int64_t StatusKeeper::StepNs() {
  if (!parts_.leads()) return kLongestWaitNs;
  const int64_t now_ns = parts_.clock.MonotonicNs();
  LookAtAgents();
  for (auto& [uid, tracked] : tracked_) {
    if (tracked.look_again_ns <= now_ns) Judge(uid, tracked);
  }
  const bool more = DeleteOneDue();
  WriteDue();
  // One a step, as the others.
  if (parts_.leads()) SendEvent(events_.TakeDue(parts_.clock.MonotonicNs()));
  if (more) return 0;
  int64_t next_ns = budget_.NextDueNs();
  for (const auto& [uid, tracked] : tracked_) next_ns = std::min(next_ns, tracked.look_again_ns);
  return std::clamp<int64_t>(next_ns - parts_.clock.MonotonicNs(), 0, kLongestWaitNs);
}

void StatusKeeper::WriteDue() {
  const std::optional<std::string> uid = budget_.Next(parts_.clock.MonotonicNs());
  if (!uid) return;
  const auto found = tracked_.find(*uid);
  if (found == tracked_.end()) {
    budget_.Forget(*uid);
  } else if (parts_.leads()) {
    Write(*uid, found->second);
  }
}

void StatusKeeper::Write(const std::string& uid, Tracked& tracked) {
  const WatchedPolicy current = Current(tracked);
  PolicyStatus wanted = Wanted(tracked, current);
  const k8s::WriteOutcome outcome = k8s::WriteStatus(parts_.server, current, wanted);
  const int64_t now_ns = parts_.clock.MonotonicNs();
  parts_.metrics.OnStatusWrite(outcome.end, outcome.status);
  switch (outcome.end) {
    case WriteEnd::kWritten:
      tracked.base_version = tracked.policy->resource_version;
      tracked.written_version = outcome.resource_version;
      Announce(current, wanted);
      tracked.written = std::move(wanted);
      budget_.Wrote(uid, now_ns);
      return;
    case WriteEnd::kConflict:
      tracked.base_version.clear();
      return budget_.Defer(uid, now_ns, now_ns + kConflictNs);
    case WriteEnd::kGone:
      return budget_.Defer(uid, now_ns, now_ns + kRefusedNs);
    case WriteEnd::kRefused:
      LOG(kWarn, "a policy's status is refused",
          {{"policy", current.object.display_name}, {"error", outcome.message}});
      return budget_.Defer(uid, now_ns, now_ns + kRefusedNs);
    case WriteEnd::kFailed:
      return budget_.Defer(uid, now_ns,
                           now_ns + std::max(outcome.retry_after_ns, backoff_.NextNs(now_ns)));
  }
}

bool StatusKeeper::IsToBeDeleted(const Tracked& tracked) const {
  const WatchedPolicy& policy = *tracked.policy;
  return !policy.deleting && parts_.clock.WallNs() >= k8s::DeletionNs(policy) &&
         parts_.clock.MonotonicNs() >= tracked.delete_not_before_ns;
}

bool StatusKeeper::DeleteOneDue() {
  const auto due = [&](const auto& entry) { return IsToBeDeleted(entry.second); };
  const auto found = std::find_if(tracked_.begin(), tracked_.end(), due);
  if (found == tracked_.end() || !parts_.leads()) return false;
  Delete(found->second);
  return std::any_of(std::next(found), tracked_.end(), due);
}

void StatusKeeper::Delete(Tracked& tracked) {
  const int64_t now_ns = parts_.clock.MonotonicNs();
  const WatchedPolicy& policy = *tracked.policy;
  const k8s::WriteOutcome outcome = k8s::DeletePolicy(parts_.server, Current(tracked));
  parts_.metrics.OnDeletion(outcome.end, outcome.status);
  tracked.delete_not_before_ns = now_ns + kRefusedNs;
  if (outcome.end == WriteEnd::kConflict) tracked.delete_not_before_ns = now_ns + kConflictNs;
  if (outcome.end == WriteEnd::kWritten) {
    LOG(kInfo, "a finished policy is deleted",
        {{"policy", policy.object.display_name}, {"why", "ttlSecondsAfterFinished"}});
  }
}

// A policy that is refused, or begins to fail somewhere, says so where its owner looks.
void StatusKeeper::Announce(const WatchedPolicy& before, const PolicyStatus& now) {
  struct Bad {
    std::string_view type;
    k8s::ConditionStatus status;
  };
  for (const Bad& bad : {Bad{k8s::kAcceptedCondition, k8s::ConditionStatus::kFalse},
                         Bad{k8s::kDegradedCondition, k8s::ConditionStatus::kTrue}}) {
    const k8s::Condition* is = now.Find(bad.type);
    const k8s::Condition* was = before.status.Find(bad.type);
    if (is == nullptr || is->status != bad.status) continue;
    if (was != nullptr && was->status == bad.status && was->reason == is->reason) continue;
    k8s::ObjectEvent what;
    what.regarding = {"firetower.dev/v1alpha1",
                      before.cluster ? "ClusterProfilingPolicy" : "ProfilingPolicy",
                      before.namespace_name, before.name, before.object.uid};
    what.reason = is->reason;
    what.action = "Reconcile";
    what.note = is->message;
    what.warning = true;
    SendEvent(events_.Take(what, parts_.clock.MonotonicNs(), parts_.clock.WallNs()));
  }
}

void StatusKeeper::SendEvent(const std::optional<k8s::ApiRequest>& request) {
  if (!request) return;
  const k8s::WriteOutcome outcome = k8s::OutcomeOf(k8s::Call(parts_.server, *request));
  parts_.metrics.OnEvent(outcome.end, outcome.status);
}

}  // namespace firetower::hub
