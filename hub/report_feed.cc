// SPDX-License-Identifier: Apache-2.0
#include "hub/report_feed.h"

#include "k8s/watch/object_meta.h"

namespace firetower::hub {
namespace {

std::string NameOf(const k8s::Node& object) {
  return std::string(k8s::TextAt(object, {"metadata", "name"}));
}

// Returns nullptr if it is not a report.
std::shared_ptr<const k8s::NodeReport> Read(const k8s::Node& object) {
  Result<k8s::NodeReport> report = k8s::ReadNodeReport(object);
  if (!report) return nullptr;
  return std::make_shared<const k8s::NodeReport>(*std::move(report));
}

}  // namespace

ReportChanges ReportFeed::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(changes_, {});
}

size_t ReportFeed::nodes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return nodes_;
}

void ReportFeed::AddToSet(const k8s::Node& object) {
  std::shared_ptr<const k8s::NodeReport> report = Read(object);
  if (report && set_.size() < kMaxNodes) set_[NameOf(object)] = std::move(report);
}

void ReportFeed::RemoveFromSet(const k8s::Node& object) { set_.erase(NameOf(object)); }

void ReportFeed::CommitSet() {
  known_.clear();
  for (const auto& [node, report] : set_) known_.insert(node);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    changes_ = {true, std::exchange(set_, {})};
    nodes_ = known_.size();
  }
  on_change_();
}

void ReportFeed::Upsert(const k8s::Node& object) {
  std::shared_ptr<const k8s::NodeReport> report = Read(object);
  const std::string node = NameOf(object);
  if (!report || (known_.size() >= kMaxNodes && !known_.contains(node))) return;
  known_.insert(node);
  Change(node, std::move(report));
}

void ReportFeed::Delete(const k8s::Node& object) {
  const std::string node = NameOf(object);
  if (known_.erase(node) > 0) Change(node, nullptr);
}

void ReportFeed::Change(const std::string& node, std::shared_ptr<const k8s::NodeReport> report) {
  const std::lock_guard<std::mutex> lock(mutex_);
  changes_.reports[node] = std::move(report);
  nodes_ = known_.size();
}

}  // namespace firetower::hub
