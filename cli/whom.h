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

// Whom a command asks, and about whose pods.
struct Whom {
  std::unique_ptr<HttpTransport> transport;
  std::string namespace_name;           // "": of all
  std::shared_ptr<KubeClient> cluster;  // whose hub it is; null for the server of a URL
};

// The namespace that Firetower is installed in: --hub-namespace, else "firetower".
std::string HubNamespace(const Args& args);

// By the flags, the environment and the name that the program was called by, in this order:
// docs/reference/cli.md. Files are read, nothing connects.
Outcome<Whom> FindWhom(const Args& args, const std::string& program, int64_t timeout_ns,
                       const Environment& environment);

}  // namespace firetower::cli
