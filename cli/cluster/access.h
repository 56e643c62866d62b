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

// An environment variable's value, "" when it is not set.
using Environment = std::function<std::string(const char* name)>;

// Whose rights a command has and where: --kubeconfig and --context, KUBECONFIG, ~/.kube/config, in
// a pod its service account, in this order. Nothing connects.
Outcome<ClusterAccess> FindCluster(const Args& args, const Environment& environment);

// Whether an object of Kubernetes may be called so (RFC 1123's labels apart by dots): a name may
// stand in a path then.
bool IsObjectName(std::string_view name);

}  // namespace firetower::cli
