// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "k8s/client/config.h"

namespace firetower::k8s {

// What a plugin finds in KUBERNETES_EXEC_INFO: an ExecCredential with its spec, the cluster in it
// when the kubeconfig asks for that.
std::string ExecInfoJson(const ClientConfig& config);

}  // namespace firetower::k8s
