// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/kube_metrics.h"

#include <string>

namespace firetower::daemon {

void KubeMetrics::OnRequest(std::string_view resource, std::string_view verb, int status) {
  registry_.Add(MetricId::kKubeRequests, 1, {verb, resource, std::to_string(status)});
}

void KubeMetrics::OnRestart(std::string_view resource, std::string_view reason, bool) {
  registry_.Add(MetricId::kKubeWatchRestarts, 1, {resource, reason});
}

void KubeMetrics::OnSkipped(std::string_view resource, std::string_view reason) {
  registry_.Add(MetricId::kKubeObjectsSkipped, 1, {resource, reason});
}

}  // namespace firetower::daemon
