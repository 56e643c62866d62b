// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/args/parse.h"
#include "cli/cluster/access.h"
#include "cli/cluster/kube_client.h"
#include "cli/failure.h"
#include "cli/http/transport.h"

namespace firetower::cli {

// The server that a command asks, and the namespace of the pods in question.
struct ServerChoice {
  std::unique_ptr<HttpTransport> transport;
  std::string namespace_name;           // "": all
  std::shared_ptr<KubeClient> cluster;  // of the hub; null for the server of a URL
};

// Returns the namespace that Firetower is installed in: --hub-namespace, else "firetower".
std::string HubNamespace(const Args& args);

// Chooses the server by the flags, the environment and the name of the program, in this order
// (docs/reference/cli.md). Reads files, but does not connect.
Outcome<ServerChoice> ChooseServer(const Args& args, const std::string& program, int64_t timeout_ns,
                                   const Environment& environment);

}  // namespace firetower::cli
