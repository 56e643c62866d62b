// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/access.h"

#include <fmt/core.h>

#include <utility>

namespace firetower::daemon {

Result<std::optional<k8s::ClientConfig>> ClusterAccessOf(const Config& config,
                                                         std::string_view service_host,
                                                         std::string_view service_port) {
  std::optional<k8s::ClientConfig> access;
  if (!config.kubeconfig_path.empty()) {
    Result<k8s::ClientConfig> read = k8s::LoadKubeconfig(config.kubeconfig_path);
    if (!read)
      return Error(ErrorCode::kInvalid, fmt::format("--kubeconfig: {}", read.error().message()));
    access = *std::move(read);
  } else if (!config.standalone) {
    Result<k8s::ClientConfig> read = k8s::InClusterConfig(service_host, service_port);
    if (!read) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("no API server is configured: {}; set --kubeconfig, or profile only "
                               "this machine with --standalone",
                               read.error().message()));
    }
    access = *std::move(read);
  }
  return access;
}

}  // namespace firetower::daemon
