// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "k8s/status/node_report.h"
#include "k8s/watch/object_consumer.h"

namespace firetower::hub {

// Changes in the nodes' reports since the last call.
struct ReportChanges {
  bool anew = false;  // `reports` are all there are: forget the others
  // By node; nullptr: it is gone.
  std::map<std::string, std::shared_ptr<const k8s::NodeReport>> reports;
};

// Passes the reports of all nodes from their watch to the status thread, as changes: after a policy
// changed, 5,000 nodes change a hundred times a second, and a snapshot of all nodes for each would
// cost a fifth of a core (measured). The mutex is held for one entry or a swap. The waiting changes
// are bounded by the number of nodes, at most kMaxNodes.
class ReportFeed final : public k8s::ObjectConsumer {
 public:
  static constexpr size_t kMaxNodes = 10000;

  // `on_change` is called on the watch's thread.
  explicit ReportFeed(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  // Any thread.
  ReportChanges Take();
  size_t nodes() const;

  void BeginSet() override { set_.clear(); }
  void AddToSet(const k8s::Node& object) override;
  void RemoveFromSet(const k8s::Node& object) override;
  void AbandonSet() override { set_.clear(); }
  void CommitSet() override;
  void Upsert(const k8s::Node& object) override;
  void Delete(const k8s::Node& object) override;
  void Flush() override { on_change_(); }

 private:
  using Reports = std::map<std::string, std::shared_ptr<const k8s::NodeReport>>;
  void Change(const std::string& node, std::shared_ptr<const k8s::NodeReport> report);

  const std::function<void()> on_change_;
  Reports set_;                  // that is arriving
  std::set<std::string> known_;  // nodes; of the watch's thread
  mutable std::mutex mutex_;     // over the rest: a watch and the status thread meet here
  ReportChanges changes_;
  size_t nodes_ = 0;
};

}  // namespace firetower::hub
