// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "daemon/metrics/metrics_registry.h"
#include "k8s/watch/reflector.h"

namespace firetower::daemon {

// Exports the watches' counts as families of /metrics. Any thread.
class KubeMetrics : public k8s::ReflectorMetrics {
 public:
  explicit KubeMetrics(MetricsRegistry& registry) : registry_(registry) {}

  void OnRequest(std::string_view resource, std::string_view verb, int status) override;
  void OnRestart(std::string_view resource, std::string_view reason, bool relist) override;
  void OnSkipped(std::string_view resource, std::string_view reason) override;

 private:
  MetricsRegistry& registry_;
};

}  // namespace firetower::daemon
