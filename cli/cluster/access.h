// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cli/args/parse.h"
#include "cli/failure.h"
#include "k8s/client/config.h"

namespace firetower::cli {

struct ClusterAccess {
  k8s::ClientConfig config;
  std::string namespace_name;  // --namespace, else the context's, else "default"
};

// Returns an environment variable's value, "" when it is not set.
using Environment = std::function<std::string(const char* name)>;

// Finds the cluster and the credentials of a command: from --kubeconfig and --context, KUBECONFIG,
// ~/.kube/config, or in a pod from its service account, in this order. Does not connect.
Outcome<ClusterAccess> FindCluster(const Args& args, const Environment& environment);

}  // namespace firetower::cli
