// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profile/profile.h"
#include "store/bundle.h"
#include "store/key.h"

namespace firetower::bench {

// A cluster whose bundles are the same each time: workloads of three pods of one container, spread
// over the nodes, each workload with stacks of its own.
class GeneratedCluster {
 public:
  static constexpr int64_t kWindowSeconds = 60;
  static constexpr uint32_t kReplicas = 3;

  GeneratedCluster(uint32_t nodes, uint32_t workloads);

  uint32_t nodes() const { return nodes_; }
  uint32_t workloads() const { return workloads_; }
  static std::string NamespaceOf(uint32_t workload);
  static std::string WorkloadName(uint32_t workload);
  uint32_t NodeOf(uint32_t workload, uint32_t replica) const {
    return (workload * kReplicas + replica) % nodes_;
  }

  // `seconds`: kWindowSeconds, or 600 or 3600 for a roll-up.
  store::BundleKey KeyOf(uint32_t node, int64_t start_s, int64_t seconds) const;
  // Rows without samples, of the containers of a node.
  std::vector<store::CatalogRow> RowsOf(uint32_t node, int64_t start_s, int64_t seconds) const;
  // The whole file, with profiles of every container of the node.
  std::string Bundle(uint32_t node, int64_t start_s, int64_t seconds);

 private:
  struct Encoded {
    std::string bytes;
    int64_t samples = 0;
    int64_t value = 0;
  };
  // Windows repeat after some: what is made of the same ones is made once.
  static constexpr int64_t kDistinctWindows = 30;

  const Encoded& ProfileOf(uint32_t workload, uint32_t replica, int64_t start_s, int64_t seconds);
  Encoded MakeWindow(uint32_t workload, uint32_t number) const;
  Encoded MakeRollUp(uint32_t workload, uint32_t replica, int64_t start_s, int64_t seconds);

  const uint32_t nodes_;
  const uint32_t workloads_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> containers_;  // of a node
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, Encoded> made_;
};

}  // namespace firetower::bench
