// SPDX-License-Identifier: Apache-2.0
// Triggers on readings that a test sets, one look a second.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "daemon/trigger/triggers.h"
#include "k8s/policy/load.h"
#include "tests/unit/daemon/trigger/pod_container.h"

namespace firetower::daemon {

// Levels, not rates: a reading is of the moment it is asked for.
class FakeMetrics : public MetricSource {
 public:
  void Watch(const std::vector<MeasuredContainer>& measured) override { watched = measured; }
  MetricReading ReadContainer(const Container& container, k8s::Metric metric,
                              int64_t now_ns) override {
    return Read(containers[{container.root_path, metric}], now_ns);
  }
  MetricReading ReadNode(k8s::Metric metric, k8s::CpuScope cpus, int64_t now_ns) override {
    return Read(node[{metric, cpus}], now_ns);
  }
  std::string_view NotServedReason(k8s::Metric) const override { return "this table is empty"; }

  std::map<std::pair<std::string, k8s::Metric>, std::optional<double>> containers;
  std::map<std::pair<k8s::Metric, k8s::CpuScope>, std::optional<double>> node;
  std::vector<MeasuredContainer> watched;
  NoReading missing = NoReading::kUnreadable;  // what is not in the tables

 private:
  MetricReading Read(std::optional<double> number, int64_t now_ns) const {
    if (!number) return {missing, 0, 0, 0, 0};
    return {NoReading::kNone, *number, *number, now_ns, now_ns};
  }
};

// `spec`: the members of spec.trigger, in YAML's flow style.
inline ArmedPolicy TriggerPolicy(const std::string& name, const std::string& trigger,
                                 const std::string& kind = "ProfilingPolicy") {
  const k8s::PolicyFileResult result = k8s::ParsePolicies(
      "apiVersion: firetower.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name +
          "}\nspec: {mode: Trigger, targets: {podSelector: {matchLabels: {}}}, trigger: {" +
          trigger + "}}\n",
      "p.yaml");
  for (const k8s::PolicyError& error : result.errors) ADD_FAILURE() << error.ToString();
  return std::make_shared<const k8s::ProfilingPolicy>(result.policies.at(0));
}

inline std::string CpuRule(const std::string& name, int percent, int for_seconds) {
  return fmt::format(
      "{{name: {}, metric: ContainerCPU, operator: GreaterThan, target: {{type: Utilization, "
      "utilizationPercent: {}}}, forSeconds: {}}}",
      name, percent, for_seconds);
}

// Policies that all take all containers, looked at once a second from second 1 on.
class TriggerTest : public ::testing::Test {
 protected:
  void Arm(const std::vector<ArmedPolicy>& policies,
           const std::vector<std::shared_ptr<const Container>>& containers) {
    std::vector<size_t> all(policies.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<WatchedContainer> watched;
    for (const auto& container : containers) watched.push_back({container, nullptr, all});
    triggers_.Arm(policies, watched);
  }
  void SetCpu(const std::shared_ptr<const Container>& container, std::optional<double> percent) {
    source_.containers[{container->root_path, k8s::Metric::kContainerCpu}] = percent;
  }
  std::vector<Firing> Second() {
    ++second_;
    std::vector<Firing> firings =
        triggers_.Evaluate(second_ * kNsPerSecond, kWallNs + second_ * kNsPerSecond);
    if (const auto counts = triggers_.Counts(); !counts.empty()) Count(counts[0].counts);
    return firings;
  }
  // The seconds, of the next `count`, on which something fired.
  std::vector<int64_t> FiredIn(int count) {
    std::vector<int64_t> fired;
    for (int i = 0; i < count; ++i) {
      for (const Firing& firing : Second()) fired.push_back(firing.monotonic_ns / kNsPerSecond);
    }
    return fired;
  }
  uint64_t SuppressedBy(Suppressed reason) const {
    return counted_.suppressed[static_cast<size_t>(reason)];
  }

  static constexpr int64_t kWallNs = 1'700'000'000 * kNsPerSecond;
  FakeMetrics source_;
  Triggers triggers_{source_};
  int64_t second_ = 0;
  TriggerCounts counted_;  // of the first policy

 private:
  void Count(const TriggerCounts& counts) {
    counted_.evaluations += counts.evaluations;
    counted_.captures += counts.captures;
    for (size_t i = 0; i < counts.suppressed.size(); ++i)
      counted_.suppressed[i] += counts.suppressed[i];
  }
};

}  // namespace firetower::daemon
