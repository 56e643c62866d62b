// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/access.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "query/select/kinds.h"

namespace firetower::cli {
namespace {

Failure NoCluster(std::string why) {
  return {ExitCode::kFailure, "no cluster is configured", std::move(why),
          "name a kubeconfig with --kubeconfig or KUBECONFIG, or choose a context with --context"};
}

// "" when there is none to try.
std::string KubeconfigPath(const Args& args, const Environment& environment) {
  if (args.Has("kubeconfig")) return args.Get("kubeconfig");
  std::string path = environment("KUBECONFIG");
  if (!path.empty()) return path;
  const std::string home = environment("HOME");
  path = home + "/.kube/config";
  return !home.empty() && ::access(path.c_str(), F_OK) == 0 ? path : "";
}

Outcome<k8s::ClientConfig> ReadConfig(const Args& args, const Environment& environment) {
  const std::string path = KubeconfigPath(args, environment);
  if (path.find(':') != std::string::npos) {
    return NoCluster(
        fmt::format("KUBECONFIG names several files ({}), which are not merged here", path));
  }
  if (!path.empty()) {
    Result<k8s::ClientConfig> read = k8s::LoadKubeconfig(path, args.Get("context"));
    if (!read) return NoCluster(read.error().message());
    return *std::move(read);
  }
  Result<k8s::ClientConfig> pod = k8s::InClusterConfig(environment("KUBERNETES_SERVICE_HOST"),
                                                       environment("KUBERNETES_SERVICE_PORT"));
  if (!pod) {
    return NoCluster(
        "there is no ~/.kube/config, KUBECONFIG is not set, and this is not a pod of a cluster");
  }
  return *std::move(pod);
}

}  // namespace

Outcome<ClusterAccess> FindCluster(const Args& args, const Environment& environment) {
  Outcome<k8s::ClientConfig> config = ReadConfig(args, environment);
  if (!config) return config.failure();
  ClusterAccess access{*std::move(config), args.Get("namespace")};
  if (access.namespace_name.empty()) access.namespace_name = access.config.default_namespace;
  if (access.namespace_name.empty()) access.namespace_name = "default";
  if (!query::IsObjectName(access.namespace_name)) {
    return Failure{ExitCode::kUsage, "the command line is wrong",
                   fmt::format("'{}' is not a valid name of a namespace", access.namespace_name),
                   "names have lower-case letters, digits and '-'"};
  }
  return access;
}

}  // namespace firetower::cli
