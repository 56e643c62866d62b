// SPDX-License-Identifier: Apache-2.0
#include "hub/report_index.h"

#include <utility>

namespace firetower::hub {

void ReportIndex::Replace(const std::string& node, const Report& report,
                          std::set<std::string>& touched) {
  const auto old = reports_.find(node);
  if (old != reports_.end()) {
    if (old->second == report) return;
    // Its rows go before it: they and the node's name lie in it.
    for (const k8s::PolicyRow& row : old->second->policies) {
      touched.insert(row.uid);
      const auto found = rows_.find(row.uid);
      if (found == rows_.end()) continue;
      found->second.erase(node);
      if (found->second.empty()) rows_.erase(found);
    }
    reports_.erase(old);
  }
  if (report == nullptr) return;
  const k8s::NodeReport& kept = *(reports_[node] = report);
  for (const k8s::PolicyRow& row : kept.policies) {
    touched.insert(row.uid);
    rows_[row.uid].emplace(kept.node, &row);
  }
}

std::set<std::string> ReportIndex::Apply(const ReportChanges& changes) {
  std::set<std::string> touched;
  if (changes.anew) {
    std::vector<std::string> gone;
    for (const auto& [node, report] : reports_) {
      if (!changes.reports.contains(node)) gone.push_back(node);
    }
    for (const std::string& node : gone) Replace(node, nullptr, touched);
  }
  for (const auto& [node, report] : changes.reports) Replace(node, report, touched);
  return touched;
}

std::vector<k8s::ReportedRow> ReportIndex::RowsOf(const std::string& uid) const {
  std::vector<k8s::ReportedRow> rows;
  const auto found = rows_.find(uid);
  if (found == rows_.end()) return rows;
  rows.reserve(found->second.size());
  for (const auto& [node, row] : found->second) rows.push_back({node, row});
  return rows;
}

std::vector<std::string> ReportIndex::NodesOfPodsIn(std::string_view namespace_name) const {
  std::vector<std::string> nodes;
  for (const auto& [node, report] : reports_) {
    if (report->agent.pod_namespace == namespace_name) nodes.push_back(node);
  }
  return nodes;
}

std::vector<std::string> ReportIndex::PoliciesOf(const std::string& node) const {
  std::vector<std::string> uids;
  const auto found = reports_.find(node);
  if (found == reports_.end()) return uids;
  for (const k8s::PolicyRow& row : found->second->policies) uids.push_back(row.uid);
  return uids;
}

}  // namespace firetower::hub
