// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "hub/agent_pods.h"
#include "hub/hub_metrics.h"
#include "hub/report_index.h"
#include "k8s/client/api_client.h"
#include "k8s/status/aggregate.h"
#include "k8s/status/event.h"
#include "k8s/status/status_writer.h"
#include "k8s/status/write_budget.h"
#include "k8s/watch/backoff.h"
#include "k8s/watch/object_store.h"

namespace firetower::hub {

using PolicyStore = k8s::ObjectStore<k8s::WatchedPolicy>;

// Snapshots of the watches. Policies are nullptr until the first complete list; reports come as
// changes.
struct HubView {
  std::shared_ptr<const PolicyStore::Objects> policies;
  std::shared_ptr<const PolicyStore::Objects> cluster_policies;
  ReportChanges reports;
  std::shared_ptr<const AgentPodStore::Objects> agent_pods = nullptr;
};

// Updates the status of every policy from the nodes' reports, within the write budget; deletes
// finished policies; posts an Event when a policy fails. Only the leader writes, and every write is
// conditional on the object's version, so two leaders at once do no harm.
//
// Belongs to the `status` thread. Holds an entry for each policy.
class StatusKeeper {
 public:
  struct Parts {
    k8s::ApiServer& server;
    const Clock& clock;
    HubMetrics& metrics;
    std::string instance;         // of the Events
    std::string agent_namespace;  // whose pods view.agent_pods are
    std::function<bool()> leads;  // asked before each write
  };
  explicit StatusKeeper(Parts parts);

  void Take(const HubView& view);
  // Starts a term of leadership: the known writes and times are outdated, because another hub was
  // the leader.
  void BeginTerm();
  // Makes at most one due write and one deletion. Returns the time until the next step.
  int64_t StepNs();

 private:
  struct Tracked {
    std::shared_ptr<const k8s::WatchedPolicy> policy;
    int64_t generation_since_ns = 0;         // monotonic; as seen here
    std::optional<int64_t> without_rows_ns;  // since when no node reports it
    int64_t look_again_ns = 0;               // 0: now
    // The version that was written over the one that the watch still shows.
    std::string base_version;
    std::string written_version;
    k8s::PolicyStatus written;
    int64_t delete_not_before_ns = 0;
    // Captures that nodes reported: they end with the node's rows, and restart at 0 with its agent.
    std::map<std::string, int64_t, std::less<>> captures;
    std::optional<int64_t> captures_total;  // unset: nothing was looked at in this term
  };
  void TakeKind(const std::shared_ptr<const PolicyStore::Objects>& objects, bool cluster);
  // Returns the policy with its current status.
  k8s::WatchedPolicy Current(const Tracked& tracked) const;
  // Checks the policies of nodes again whose agent went down or came up.
  void LookAtAgents();
  k8s::PolicyStatus Wanted(Tracked& tracked, const k8s::WatchedPolicy& current);
  static int64_t CountCaptures(Tracked& tracked, const std::vector<k8s::ReportedRow>& rows,
                               int64_t at_least);
  void Judge(const std::string& uid, Tracked& tracked);
  void WriteDue();
  void Write(const std::string& uid, Tracked& tracked);
  bool IsToBeDeleted(const Tracked& tracked) const;
  // Deletes one of the due policies. Returns true if there are more.
  bool DeleteOneDue();
  void Delete(Tracked& tracked);
  void Announce(const k8s::WatchedPolicy& before, const k8s::PolicyStatus& now);
  // Sends a request if there is one.
  void SendEvent(const std::optional<k8s::ApiRequest>& request);

  Parts parts_;
  ReportIndex index_;
  AgentLife agents_;
  int64_t look_at_agents_ns_ = 0;                        // monotonic; not before
  std::shared_ptr<const PolicyStore::Objects> seen_[2];  // namespaced, cluster
  std::map<std::string, Tracked> tracked_;               // by uid
  k8s::WriteBudget budget_;
  k8s::Backoff backoff_;
  k8s::EventSeries events_;
};

}  // namespace firetower::hub
