// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/config/config.h"
#include "k8s/client/config.h"

namespace firetower::daemon {

// Finds the way to the API server: --kubeconfig, else a pod's service account, unless --standalone
// says that there is no cluster. Returns nothing if no cluster is wanted; errors are for the person
// who started the daemon. `service_host` and `service_port` are KUBERNETES_SERVICE_HOST and _PORT.
Result<std::optional<k8s::ClientConfig>> ClusterAccessOf(const Config& config,
                                                         std::string_view service_host,
                                                         std::string_view service_port);

}  // namespace firetower::daemon
