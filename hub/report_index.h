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

// Reports of all nodes by policy. Belongs to one thread. Holds the latest report of each node and
// an entry for each row of it: some 15 MB at 5,000 nodes of ten rows.
class ReportIndex {
 public:
  // The uids of policies of which something changed.
  std::set<std::string> Apply(const ReportChanges& changes);

  // Valid until the next Apply.
  std::vector<k8s::ReportedRow> RowsOf(const std::string& uid) const;
  size_t nodes() const { return reports_.size(); }
  // Nodes whose agent says that it is a pod of this namespace.
  std::vector<std::string> NodesOfPodsIn(std::string_view namespace_name) const;
  // The uids of policies that a node reports.
  std::vector<std::string> PoliciesOf(const std::string& node) const;

 private:
  using Report = std::shared_ptr<const k8s::NodeReport>;
  // Takes the place of what the node reported before; nullptr: nothing does.
  void Replace(const std::string& node, const Report& report, std::set<std::string>& touched);

  std::map<std::string, Report> reports_;
  // Policy uid -> node -> row; both lie in reports_.
  std::map<std::string, std::map<std::string_view, const k8s::PolicyRow*>> rows_;
};

}  // namespace firetower::hub
