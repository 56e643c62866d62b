// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hub/report_feed.h"
#include "k8s/status/aggregate.h"

namespace firetower::hub {

// Index of the reports of all nodes by policy. Belongs to one thread. Holds the latest report of
// each node and an entry for each of its rows: some 15 MB at 5,000 nodes with ten rows each.
class ReportIndex {
 public:
  // Applies changes. Returns the uids of the changed policies.
  std::set<std::string> Apply(const ReportChanges& changes);

  // Returns the rows of a policy. Valid until the next Apply.
  std::vector<k8s::ReportedRow> RowsOf(const std::string& uid) const;
  size_t nodes() const { return reports_.size(); }
  // Returns the nodes whose agent reports to be a pod of this namespace.
  std::vector<std::string> NodesOfPodsIn(std::string_view namespace_name) const;
  // Returns the uids of the policies that a node reports.
  std::vector<std::string> PoliciesOf(const std::string& node) const;

 private:
  using Report = std::shared_ptr<const k8s::NodeReport>;
  // Replaces the node's earlier report; nullptr: removes it.
  void Replace(const std::string& node, const Report& report, std::set<std::string>& touched);

  std::map<std::string, Report> reports_;
  // Policy uid -> node -> row. Nodes and rows are owned by reports_.
  std::map<std::string, std::map<std::string_view, const k8s::PolicyRow*>> rows_;
};

}  // namespace firetower::hub
