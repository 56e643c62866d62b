// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "k8s/client/config.h"

namespace firetower::k8s {

// Returns the text of KUBERNETES_EXEC_INFO for a plugin: an ExecCredential with its spec, and the
// cluster in it when the kubeconfig asks for that.
std::string ExecInfoJson(const ClientConfig& config);

}  // namespace firetower::k8s
